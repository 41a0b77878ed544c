"""Prints when a client whose connection request is dropped sends it again, until told otherwise.

Run inside a trial's network: `retries.py SECONDS`. The listener's queue is filled by a connection
that nobody accepts. Times are the kernel's own, of the packets on the loopback.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

SO_TIMESTAMPNS = 35
ETH_P_IP = 0x0800
PACKET_HOST = 0
SYN = 0x02
HEADERS = 14 + 20
WHERE = ("127.0.0.1", 9999)


def requests_seen(capture: socket.socket, port: int, until: float) -> list[float]:
    """Kernel times, in seconds, of the SYNs from a port."""
    seen = []
    while (left := until - time.monotonic()) > 0:
        capture.settimeout(left)
        try:
            frame, ancillary, _, sender = capture.recvmsg(256, 64)
        except TimeoutError:
            break
        source, flags = struct.unpack_from("!H11xB", frame, HEADERS)
        if sender[2] == PACKET_HOST and source == port and flags == SYN:
            ((_, _, stamp),) = ancillary
            seconds, nanoseconds = struct.unpack("qq", stamp)
            seen.append(seconds + nanoseconds / 1e9)
    return seen


def main(seconds: float) -> None:
    """Fill the queue, ask once more, and look."""
    with (
        socket.create_server(WHERE, backlog=0) as _listener,
        socket.create_connection(WHERE) as _waits_to_be_accepted,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP)) as capture,
        socket.socket() as client,
    ):
        capture.bind(("lo", ETH_P_IP))
        capture.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        client.bind(("127.0.0.2", 0))
        client.setblocking(False)
        until = time.monotonic() + seconds
        client.connect_ex(WHERE)
        first, *again = requests_seen(capture, client.getsockname()[1], until)
    print(json.dumps([each - first for each in again]))


if __name__ == "__main__":
    main(float(sys.argv[1]))
