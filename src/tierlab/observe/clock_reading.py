"""Reading the clock of a domain that has its own, by the agent that tells it there.

Of several round trips the quickest bounds the difference of the two clocks best (D. L. Mills, 1991,
"Internet Time Synchronization: the Network Time Protocol", the minimum filter).
"""

from __future__ import annotations

import socket
import struct
import time

from tierlab.tables.clock import ClockReading

PORT = 9
"""Of the agent's verb ``clock``; the port of the protocol "discard", which no server has."""

ROUND_TRIPS = 64
ANSWER = struct.Struct("<q")


def read_clock(link: socket.socket) -> ClockReading:
    """Ask who tells its clock at the other end; OSError if it does not answer."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return min((_ask(link) for _ in range(ROUND_TRIPS)), key=lambda read: read.uncertainty_ns)


def _ask(link: socket.socket) -> ClockReading:
    asked_ns, began = time.time_ns(), time.monotonic_ns()
    link.sendall(b"?")
    answer = b""
    while len(answer) < ANSWER.size:
        part = link.recv(ANSWER.size - len(answer))
        if not part:
            raise ConnectionResetError("it hung up")
        answer += part
    # The wall clock may be set meanwhile; how long it took is of the other one.
    half_ns = (time.monotonic_ns() - began) // 2
    (told_ns,) = ANSWER.unpack(answer)
    at_ns = asked_ns + half_ns
    return ClockReading(at_ns=at_ns, offset_ns=at_ns - told_ns, uncertainty_ns=half_ns + 1)
