"""The state of a virtual machine, memory and all, to a file and from it again.

QEMU carries it as it does to another host, by a socket; here this process is at the other end.
Source: QEMU's docs/devel/migration.rst. The machine stands still meanwhile: what an emulated guest
writes to its memory while that is copied QEMU 7.2 does not always notice.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Literal

import pyarrow as pa

from tierlab.environments.snapshots.monitor import Monitor

COMPRESSION: Literal["lz4"] = "lz4"
"""A machine that has just booted uses little of its memory, and a third of that remains."""
SECONDS = 120.0
PIECE = 4 << 20
NO_LIMIT = 1 << 40
"""Bytes a second: by itself QEMU leaves room for others on a network."""


def save(monitor: Monitor, channel: Path, file: Path) -> None:
    """Write the state of a machine, which then goes on; `MonitorError` or OSError if it cannot be.

    `channel` is where QEMU can reach a socket; it is gone afterwards.
    """
    monitor.ask("stop")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(channel))
            listener.listen()
            listener.settimeout(SECONDS)
            monitor.ask("migrate-set-parameters", **{"max-bandwidth": NO_LIMIT})
            monitor.ask("migrate", uri=f"unix:{channel}")
            link, _ = listener.accept()
            with link:
                link.settimeout(SECONDS)
                _receive(link, file)
        monitor.wait_migrated(SECONDS)
    finally:
        channel.unlink(missing_ok=True)
        monitor.ask("cont")


def _receive(link: socket.socket, file: Path) -> None:
    piece = memoryview(bytearray(PIECE))
    with pa.CompressedOutputStream(str(file), COMPRESSION) as stream:
        while count := link.recv_into(piece):
            stream.write(piece[:count])


def load(monitor: Monitor, channel: Path, file: Path) -> None:
    """Give a machine that waits its state, and let it go on; `MonitorError` or OSError if it fails.

    `channel` is where QEMU can make a socket.
    """
    monitor.ask("migrate-incoming", uri=f"unix:{channel}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(str(channel))
        channel.unlink()
        link.settimeout(SECONDS)
        with pa.CompressedInputStream(str(file), COMPRESSION) as stream:
            while piece := stream.read(PIECE):
                link.sendall(piece)
    monitor.wait_migrated(SECONDS)
    monitor.ask("cont")  # it stood still when it was saved
