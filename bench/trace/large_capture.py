"""A capture of RUBBoS on its four tiers that is as long as asked for.

A few seconds are real: tcpdump beside wrk, from the system's first packet on. Its segments of up to
64 KiB, as only a loopback interface has them, are cut as a network card does it that sends into an
Ethernet. All is then repeated one after the other, each time by other clients: the clients'
addresses and the times are new, and so are all connections; everything else stays as it was.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from four_tiers import SERVERS, WEB, FourTiers

SCALE = 0.005
SECONDS_PER_PAGE = 2
PAGES = (
    "servlet/ViewStory?storyId=5",
    "servlet/StoriesOfTheDay",
    "servlet/BrowseCategories",
    "browse.html",
)
"""Each is asked for over kept connections, then over one connection a request."""

FILE_HEADER, RECORD_HEADER, ETHERNET, IPV4 = 24, 16, 14, 20
MTU = 1_500
FIN, PSH = 0x01, 0x08
SOURCE, DESTINATION = 12, 16
"""Where IPv4's header has its addresses."""
PORTS = (8080, 8009, 3306)
"""The servers'."""
MOST_REPETITIONS = 250
"""The second byte of a client's address is that of its repetition."""
BESIDE = 1.25
"""Of the capture's size: itself, and what is dissected of it meanwhile."""

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LargeCapture:
    """The file, and how much of it is real."""

    path: Path
    packets: int
    recorded: int
    repetitions: int


def make(least: int, folder: Path) -> LargeCapture:
    """Record, then repeat until there are at least so many packets."""
    recorded = folder / "recorded.pcap"
    record(recorded, folder)
    content = np.frombuffer(bytearray(b"".join(segments(recorded.read_bytes()))), dtype=np.uint8)
    recorded.unlink()
    starts = record_starts(content)
    repetitions = math.ceil(least / len(starts))
    assert repetitions <= MOST_REPETITIONS, f"{len(starts)} packets were recorded, which is too few"
    wanted, free = BESIDE * repetitions * content.size, shutil.disk_usage(folder).free
    if wanted > free:
        sys.exit(
            f"{folder}: the capture and its tables take {wanted / 1e9:.1f} GB, and"
            f" {free / 1e9:.1f} are free; set TMPDIR to a folder on a larger disk."
        )
    path = folder / "large.pcap"
    repeat(content, starts, repetitions, path)
    return LargeCapture(path, repetitions * len(starts), len(starts), repetitions)


def record(path: Path, folder: Path) -> None:
    """Bring the tiers up and load them with tcpdump beside them."""
    tiers = FourTiers(f"tierlab-bench-dissect-{os.getpid()}", SCALE, folder)
    wanted = " or ".join(f"tcp port {port}" for port in PORTS)
    command = ["tcpdump", "-i", "lo", "-Q", "in", "-s", "0", "-B", "524288", "-Z", "root"]
    command += ["--time-stamp-precision=nano", "-w", str(path), wanted]
    log = folder / "tcpdump.log"
    try:
        process = tiers.spawn(command, log)
        deadline = time.monotonic() + 20
        while not log.exists() or "listening" not in log.read_text():
            assert time.monotonic() < deadline, "tcpdump did not start"
            time.sleep(0.05)
        tiers.start()
        for page in PAGES:
            load = ["wrk", "-t1", "-c16", f"-d{SECONDS_PER_PAGE}s"]
            url = "http://{}:{}/rubbos/{}".format(*WEB, page)
            tiers.run([*load, url])
            tiers.run([*load, "-H", "Connection: close", url])
        time.sleep(1.5)  # libpcap hands packets over once a second
        process.stop(10, signal.SIGINT)
    finally:
        tiers.stop()
    assert "0 packets dropped by kernel" in log.read_text(), log.read_text()


def segments(content: bytes) -> Iterator[bytes]:
    """The file, its long packets cut into segments as TCP segmentation offload does it."""
    yield content[:FILE_HEADER]
    at = FILE_HEADER
    while at + RECORD_HEADER <= len(content):
        (length,) = struct.unpack_from("=I", content, at + 8)
        behind = at + RECORD_HEADER + length
        if behind > len(content):
            return
        record = content[at:behind]
        at = behind
        yield from [record] if length <= ETHERNET + MTU else cut(record)


def cut(record: bytes) -> Iterator[bytes]:
    """A packet's segments: the sequence numbers go on, and only the last one ends anything."""
    tcp = RECORD_HEADER + ETHERNET + IPV4
    headers = tcp + (record[tcp + 12] >> 4) * 4
    payload = memoryview(record)[headers:]
    (sequence,) = struct.unpack_from(">I", record, tcp + 4)
    most = MTU - (headers - RECORD_HEADER - ETHERNET)
    for start in range(0, len(payload), most):
        part = payload[start : start + most]
        header = bytearray(record[:headers])
        length = headers - RECORD_HEADER + len(part)
        struct.pack_into("=II", header, 8, length, length)
        struct.pack_into(">H", header, RECORD_HEADER + ETHERNET + 2, length - ETHERNET)
        struct.pack_into(">I", header, tcp + 4, (sequence + start) % 2**32)
        if start + most < len(payload):
            header[tcp + 13] &= ~(PSH | FIN)
        yield bytes(header) + part


def record_starts(content: Bytes) -> Numbers:
    """Where each packet's record begins in a pcap file of this machine's byte order."""
    view = memoryview(content.data)
    starts, at = [], FILE_HEADER
    while at + RECORD_HEADER <= len(view):
        (length,) = struct.unpack_from("=I", view, at + 8)
        if at + RECORD_HEADER + length > len(view):
            break
        starts.append(at)
        at += RECORD_HEADER + length
    return np.array(starts, dtype=np.int64)


def repeat(content: Bytes, starts: Numbers, repetitions: int, path: Path) -> None:
    """Write the packets so many times, each time later and from other addresses."""
    ip = starts + RECORD_HEADER + ETHERNET
    end = int(starts[-1]) + RECORD_HEADER + word(content, starts[-1:] + 8)[0]
    address = client_addresses(content, ip)
    seconds = word(content, starts)
    longer = int(seconds.max() - seconds.min()) + 1
    with path.open("wb") as file:
        file.write(content[:FILE_HEADER].tobytes())
        for repetition in range(repetitions):
            content[address + 1] = repetition + 1
            later = (seconds + repetition * longer).astype("<u4").view(np.uint8).reshape(-1, 4)
            content[starts[:, None] + np.arange(4)] = later
            file.write(content[FILE_HEADER:end].data)


def word(content: Bytes, at: Numbers) -> Numbers:
    """The words of four bytes that begin there."""
    four = np.ascontiguousarray(content[at[:, None] + np.arange(4)])
    return four.view("<u4")[:, 0].astype(np.int64)


def client_addresses(content: Bytes, ip: Numbers) -> Numbers:
    """Where each packet has its client's address: the end that is no server of ours."""
    servers = [
        int.from_bytes(socket.inet_aton(str(server["address"])), "little") for server in SERVERS
    ]
    assert (content[ip] == 0x45).all(), "only IPv4 without options is known here"
    ports_at = ip + IPV4
    source = content[ports_at].astype(np.int64) << 8 | content[ports_at + 1]
    is_server = np.isin(source, PORTS) & np.isin(word(content, ip + SOURCE), servers)
    return np.where(is_server, ip + DESTINATION, ip + SOURCE)
