"""Mounts on this host that a trial leaves behind only after a crash."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from tierlab.machine.kernel_calls import (
    CLONE_NEWNS,
    MS_REC_PRIVATE,
    in_own_thread,
    mount,
    unshare,
)

MNT_DETACH = 2
MOUNTS = Path("/proc/self/mounts")


def detach(path: Path) -> None:
    """Take a mount off, even while it is used; OSError if the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(path), MNT_DETACH) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))


def remove_mount_point(path: Path) -> None:
    """Remove a file on which something is mounted, even if another program has mounted over it.

    A program that mounts a folder on itself, as ``ip netns add`` does with /run/netns, covers the
    mounts in it: they can no longer be taken off. So this works in a mount namespace of its own,
    and takes off there whatever is in the way. Once nothing is mounted on the file there, it can be
    removed, and the kernel takes its mounts off in all other namespaces (`detach_mounts`,
    Linux's fs/namespace.c). The other program's own mounts stay. OSError if the kernel refuses.
    """
    in_own_thread(lambda: _remove_mount_point(path))


def _remove_mount_point(path: Path) -> None:
    unshare(CLONE_NEWNS)
    mount("none", Path("/"), "none", MS_REC_PRIVATE)
    while True:
        try:
            path.unlink()
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.ENOENT):
                raise
            covers = (path, *path.parents[:-1])
            if not any(_is_detached(each) for each in covers):
                if error.errno == errno.ENOENT:
                    return
                raise
        else:
            return


def _is_detached(path: Path) -> bool:
    """Take a mount off, if there is one at this very place."""
    try:
        detach(path)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return False
        raise
    return True


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
