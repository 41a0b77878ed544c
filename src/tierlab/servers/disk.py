"""Room on the disk that a trial's files are on."""

from __future__ import annotations

import os
from pathlib import Path

from tierlab.errors import UserError

LEAST_ROOM = 1 << 20
"""Bytes; a disk with less is full for every purpose."""
MIB = 1 << 20


def room(folder: Path) -> int:
    """Bytes that an ordinary user may still write to the file system that holds the folder."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def is_full(folder: Path) -> bool:
    """Whether a server whose files are there fails for want of room."""
    return room(folder) < LEAST_ROOM


def need_room(folder: Path, needed: int, purpose: str) -> None:
    """Raise `UserError` unless so many bytes can be written."""
    left = room(folder)
    if left < needed:
        raise UserError(
            f"{folder}: {purpose} needs {-(-needed // MIB)} MiB and no more than {left // MIB} MiB"
            " are left on that disk; make room there and try again."
        )


def size(folder: Path) -> int:
    """Bytes that the files below a folder take up."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
