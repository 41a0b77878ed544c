"""Mounts on this host that a trial leaves behind only after a crash."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

MNT_DETACH = 2


def detach(path: Path) -> None:
    """Take a mount off, even while it is used; OSError if the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(path), MNT_DETACH) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))


def mounts_below(folder: Path) -> list[Path]:
    """Where something is mounted below a folder, the innermost first."""
    targets = (line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines())
    paths = (Path(target.replace("\\040", " ")) for target in targets)
    return sorted((path for path in paths if folder in path.parents), reverse=True)
