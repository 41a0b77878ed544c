"""Which processes are the server at a port of this host, and where they cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

from tierlab.environments.listeners import MANAGER, Listener, listeners_at

IN_A_CONTAINER = "in a container"
MONITOR = "conmon"
"""Podman's: it holds the ports of its container, whose processes it has started."""

OTHERS: Mapping[str, str] = {
    MANAGER: "those that it starts for each connection",
    MONITOR: IN_A_CONTAINER,
    **dict.fromkeys(
        ("docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta"), IN_A_CONTAINER
    ),
}
"""Programs that hold ports for servers, and where those are. Of what they start, only the monitor's
are a server's processes."""
IDLE = frozenset({MONITOR, "catatonit", "pause"})
"""What Podman adds to containers: a pod's first one has the ports, and nothing else in it."""


@dataclass(frozen=True)
class Behind:
    """The server's processes, as far as this user may know."""

    pids: frozenset[int]
    unseen: str | None
    """Why there are none, where it is known who holds the port."""


def behind(address: str, port: int) -> Behind:
    """Those that listen there, or for whom it is done, and whom they started."""
    holders = listeners_at(address, port)
    found: set[int] = set()
    for each in holders:
        if each.pid not in found:
            found |= _servers(each)
    return Behind(frozenset(found), None if found else _unseen(holders))


def _unseen(holders: Sequence[Listener]) -> str | None:
    for each in map(_program, holders):
        if each in OTHERS:
            return f"its port is held by {each}; its own processes are {OTHERS[each]}"
    return None


def _servers(holder: Listener) -> set[int]:
    program = _program(holder)
    if program == MONITOR:
        return {pid for pid in _family(holder.pid) if _name(pid) not in IDLE}
    return set() if program in OTHERS else _family(holder.pid)


def _program(holder: Listener) -> str:
    """Its name; `pasta.avx2` is pasta, built for some processors."""
    return holder.program.partition(".")[0]


def _family(pid: int) -> set[int]:
    try:
        process = psutil.Process(pid)
        return {pid, *(child.pid for child in process.children(recursive=True))}
    except psutil.Error:
        return set()


def _name(pid: int) -> str | None:
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return None
