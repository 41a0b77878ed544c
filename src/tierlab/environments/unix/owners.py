"""Which processes hold which sockets, by their inodes (proc_pid_fd(5))."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

import psutil

PREFIX = "socket:["


def sockets_of(pid: int) -> set[int]:
    """The sockets that a process has open; none of one that has ended, or is another user's."""
    folder = f"/proc/{pid}/fd"
    found: set[int] = set()
    try:
        names = os.listdir(folder)  # noqa: PTH208 - thousands of files: pathlib takes longer
    except OSError:
        return found
    for name in names:
        try:
            link = os.readlink(f"{folder}/{name}")  # noqa: PTH115 - the same
        except OSError:  # it is closed meanwhile
            continue
        if link.startswith(PREFIX):
            found.add(int(link[len(PREFIX) : -1]))
    return found


def holders(inodes: Collection[int], pids: Iterable[int] | None = None) -> dict[int, list[int]]:
    """The processes that hold each of these sockets, among `pids` or all of this host."""
    wanted = set(inodes)
    found: dict[int, list[int]] = {}
    for pid in (psutil.pids() if pids is None else pids) if wanted else ():
        for inode in sockets_of(pid) & wanted:
            found.setdefault(inode, []).append(pid)
    return found


def program(pid: int) -> str | None:
    """The name of a process's program; None of one that has ended."""
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return None
