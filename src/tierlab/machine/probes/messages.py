"""Can messages between the tiers be captured?"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator

from tierlab.machine.check import Check, Verdict

GROUP = "messages"
ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_RX_RING = 5
PACKET_VERSION = 10
TPACKET_V3 = 2
SECONDS = 1.0
LOST = "visits: queue length and time at every tier, who waited for whom"


def checks() -> Iterator[Check]:
    """Packet capture and its ring."""
    yield capture()
    yield ring()


def capture() -> Check:
    """Send a datagram over loopback and see it on a packet socket."""
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as packets:
            packets.bind(("lo", ETH_P_ALL))
            seen = _sees_a_datagram(packets)
    except OSError as error:
        return _missing("packet capture", f"no packet socket on lo: {error.strerror}")
    if not seen:
        return _missing("packet capture", "a datagram sent over lo was not seen on it")
    return Check(GROUP, "packet capture", Verdict.WORKS, "saw its own datagram on lo")


def _sees_a_datagram(packets: socket.socket) -> bool:
    mark = f"tierlab doctor {time.monotonic_ns()}".encode()
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind(("127.0.0.1", 0))
        sender.sendto(mark, receiver.getsockname())
        deadline = time.monotonic() + SECONDS
        while (left := deadline - time.monotonic()) > 0:
            packets.settimeout(left)
            try:
                if packets.recv(65_535).endswith(mark):
                    return True
            except TimeoutError:
                return False
    return False


def ring() -> Check:
    """A TPACKET_V3 ring of 4 MiB, as capture uses it (packet_mmap in the kernel's documents)."""
    blocks, block, frame, timeout_ms = 4, 1 << 20, 2048, 10
    request = struct.pack("7I", block, blocks, frame, blocks * block // frame, timeout_ms, 0, 0)
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as packets:
            packets.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V3)
            packets.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
    except OSError as error:
        return _missing("capture ring", f"no TPACKET_V3 ring: {error.strerror}")
    return Check(GROUP, "capture ring", Verdict.WORKS, "TPACKET_V3, 4 MiB")


def _missing(name: str, seen: str) -> Check:
    remedy = "run as root, or give tierlab-agent the capability: setcap cap_net_raw+ep"
    return Check(GROUP, name, Verdict.MISSING, seen, LOST, remedy)
