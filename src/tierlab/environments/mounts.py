"""Mounts on this host that a trial leaves behind only after a crash."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

MNT_DETACH = 2
MOUNTS = Path("/proc/self/mounts")


def detach(path: Path) -> None:
    """Take a mount off, even while it is used; OSError if the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(path), MNT_DETACH) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))


def mounts_below(folder: Path) -> list[Path]:
    """Where something is mounted below a folder, the innermost first."""
    return sorted((path for path in _targets(MOUNTS) if folder in path.parents), reverse=True)


def mount_of(path: Path, mounts: Path = MOUNTS) -> Path:
    """Where the file system is mounted that a file lies on, links followed."""
    targets = set(_targets(mounts))
    real = path.resolve()
    return next((place for place in (real, *real.parents) if place in targets), Path("/"))


def _targets(mounts: Path) -> list[Path]:
    """See proc_pid_mounts(5)."""
    lines = mounts.read_text().splitlines()
    return [Path(line.split()[1].replace("\\040", " ")) for line in lines]
