"""Frames of made conversations, sent at a stated rate into one end of a veth pair."""

from __future__ import annotations

import itertools
import socket
import struct
import sys
import time
from collections.abc import Iterator

CLIENT, WEB, DATABASE = "127.0.0.1", ("127.0.1.1", 8080), ("127.0.4.1", 3306)
ETHERNET = bytes(12) + b"\x08\x00"
SYN, ACK, FIN = 0x02, 0x10, 0x01
CONNECTIONS = 1_500
BATCH = 64

Step = tuple[bool, int, bytes]
"""From the client? Flags, payload."""

ROWS = 30


def frame(source: tuple[str, int], target: tuple[str, int], step: Step, next_: list[int]) -> bytes:
    """One TCP segment; checksums stay empty, as on a real loopback."""
    from_client, flags, payload = step
    sequence, acknowledged = next_ if from_client else next_[::-1]
    ip = struct.pack(
        ">BBHHHBBH4s4s",
        *(0x45, 0, 40 + len(payload), 0, 0, 64, socket.IPPROTO_TCP, 0),
        *(socket.inet_aton(source[0]), socket.inet_aton(target[0])),
    )
    offset_and_flags = (5 << 12) | flags
    ports = (source[1], target[1])
    tcp = struct.pack(">HHIIHHHH", *ports, sequence, acknowledged, offset_and_flags, 65535, 0, 0)
    return ETHERNET + ip + tcp + payload


def page(number: int) -> Iterator[Step]:
    """A request on a connection of its own."""
    target = f"/rubbos/servlet/ViewStory?storyId={number}"
    head = f"GET {target} HTTP/1.1\r\nHost: web\r\nX-Request-Id: {number:016x}\r\n\r\n"
    reply = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8000\r\n\r\n"
    yield (True, SYN, b"")
    yield (False, SYN | ACK, b"")
    yield (True, ACK, b"")
    yield (True, ACK, head.encode())
    yield (False, ACK, b"")
    yield (False, ACK, reply + bytes(4000))
    yield (False, ACK, bytes(4000))
    yield (True, ACK, b"")
    yield (True, FIN | ACK, b"")
    yield (False, FIN | ACK, b"")


def packet(sequence: int, payload: bytes) -> bytes:
    """One packet of MySQL's protocol."""
    return struct.pack("<I", len(payload))[:3] + bytes([sequence % 256]) + payload


def greeting(number: int) -> bytes:
    scramble = f"{number:020d}".encode()
    low, high = b"\xfe\xf7", b"\xff\x81"
    head = b"\x0a10.11.6-MariaDB\0" + bytes(4) + scramble[:8] + b"\0" + low + b"\x2d\x02\0" + high
    return packet(0, head + b"\x15" + bytes(10) + scramble[8:] + b"\0mysql_native_password\0")


def login() -> bytes:
    return packet(1, b"\x84\xa6\xbf\x01" + bytes(28) + b"rubbos\0\x14" + bytes(20) + b"rubbos\0")


def statements(number: int) -> Iterator[Step]:
    """A connection that logs in, asks ten times and goes."""
    column = b"\x03def\x06rubbos\x01s\x07stories\x02id\x02id\x0c\x3f\0\x0b\0\0\0\x03\x03\x42\0\0\0"
    row = b"\x0512345" + b"\x1e" + b"t" * 30
    payloads = [b"\x02", column, column, *[row] * ROWS, b"\xfe\0\0\x02\0\0\0"]
    reply = b"".join(packet(at, payload) for at, payload in enumerate(payloads, start=1))
    yield (True, SYN, b"")
    yield (False, SYN | ACK, b"")
    yield (False, ACK, greeting(number))
    yield (True, ACK, login())
    yield (False, ACK, packet(2, b"\0\0\0\x02\0\0\0"))
    for turn in range(10):
        sql = f"/*rid={number:016x}*/SELECT s.id, s.title FROM stories s WHERE s.id = {turn}"
        yield (True, ACK, packet(0, b"\x03" + sql.encode()))
        yield (False, ACK, reply)
        yield (True, ACK, b"")
    yield (True, FIN | ACK, b"")
    yield (False, FIN | ACK, b"")


def conversations() -> list[bytes]:
    """Frames of many connections, taken in turns as a busy link has them."""
    queues = []
    for number in range(CONNECTIONS):
        made = statements(number) if number % 3 == 0 else page(number)
        server = DATABASE if number % 3 == 0 else WEB
        queues.append(connection((CLIENT, 20_000 + number), server, made))
    return [
        sent
        for start in range(0, CONNECTIONS, 50)
        for turn in itertools.zip_longest(*queues[start : start + 50])
        for sent in turn
        if sent is not None
    ]


def connection(
    client: tuple[str, int], server: tuple[str, int], steps: Iterator[Step]
) -> list[bytes]:
    next_ = [1_000, 2_000]
    frames = []
    for step in steps:
        from_client, flags, payload = step
        ends = (client, server) if from_client else (server, client)
        frames.append(frame(*ends, step, next_))
        next_[0 if from_client else 1] += len(payload) + bool(flags & (SYN | FIN))
    return frames


def send(interface: str, rate: float, seconds: float) -> tuple[int, float]:
    """Send at the rate, as far as this machine can; returns packets and seconds."""
    frames = itertools.cycle(conversations())
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind((interface, 0))
        began = time.monotonic()
        sent = 0
        while (now := time.monotonic() - began) < seconds:
            if sent > now * rate:
                time.sleep(0.0005)
                continue
            for payload in itertools.islice(frames, BATCH):
                link.send(payload)
            sent += BATCH
        return sent, time.monotonic() - began


def main() -> None:
    interface, rate, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    sent, took = send(interface, rate, seconds)
    print(f"{sent} {took}")


if __name__ == "__main__":
    main()
