"""Who listens at this host's UNIX sockets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tierlab.environments.behind_port import family
from tierlab.environments.listeners import MANAGER
from tierlab.environments.unix.owners import holders, program
from tierlab.environments.unix.table import Table


@dataclass(frozen=True)
class UnixListener:
    """A UNIX socket at which connections are accepted."""

    path: str
    pids: frozenset[int]
    """The processes that hold it, as far as this user may know: root of all."""
    program: str
    """What the first of them runs."""


def unix_listeners(paths: Collection[str] | None = None) -> list[UnixListener]:
    """Those at these paths in this process's network namespace, or at any; OSError where the kernel
    cannot tell.

    A service's socket that systemd holds too is the service's.
    """
    with Table() as table:
        found = [each for each in table.sockets() if each.listens and each.name is not None]
    wanted = {e.inode: str(e.name) for e in found if paths is None or e.name in paths}
    held = holders(wanted)
    return sorted(
        (_listener(path, held.get(inode, [])) for inode, path in wanted.items()),
        key=lambda each: (each.path, sorted(each.pids)),
    )


def behind_socket(path: str) -> frozenset[int]:
    """The processes that listen at a UNIX socket, and whom they started; empty where the kernel
    cannot tell.
    """
    try:
        found = unix_listeners([path])
    except OSError:
        return frozenset()
    return frozenset().union(*(family(pid) for each in found for pid in each.pids))


def is_listened_at(path: str) -> bool:
    """Whether anybody listens at a UNIX socket; true where the kernel cannot tell."""
    try:
        with Table() as table:
            return any(each.listens and each.name == path for each in table.sockets())
    except OSError:
        return True


def _listener(path: str, pids: list[int]) -> UnixListener:
    programs: Mapping[int, str] = {pid: name for pid in pids if (name := program(pid)) is not None}
    services = {pid: name for pid, name in programs.items() if name != MANAGER}
    of = services or programs
    return UnixListener(path, frozenset(of), of[min(of)] if of else "")
