"""Which processes are the server at a port of this host, and where they cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import psutil

from tierlab.environments.listeners import MANAGER, Listener, listeners_at
from tierlab.environments.namespaces import network_with

IN_A_CONTAINER = "in a container"
MONITOR = "conmon"
"""Podman's: it holds the ports of its container, whose processes it has started."""

PROXY = "docker-proxy"
"""Docker's: it has the ports of a container, and says where in its network they lead."""

OTHERS: Mapping[str, str] = {
    MANAGER: "those that it starts for each connection",
    MONITOR: IN_A_CONTAINER,
    **dict.fromkeys((PROXY, "rootlessport", "rootlesskit", "slirp4netns", "pasta"), IN_A_CONTAINER),
}
"""Programs that hold ports for servers, and where those are. Of what they start, only the monitor's
are a server's processes; Docker's are found by where the port leads."""
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
        return {pid for pid in family(holder.pid) if _name(pid) not in IDLE}
    if program == PROXY:
        return _contained(holder)
    return set() if program in OTHERS else family(holder.pid)


def _contained(proxy: Listener) -> set[int]:
    """Those that listen where it leads, in a network that only the container has."""
    said = dict(pairwise(_command(proxy.pid)))
    address, port = said.get("-container-ip"), said.get("-container-port", "")
    if address is None or not port.isdecimal() or (net := network_with(address)) is None:
        return set()
    there = listeners_at(address, int(port), net)
    return {pid for each in there for pid in family(each.pid)}


def _program(holder: Listener) -> str:
    """Its name; `pasta.avx2` is pasta, built for some processors."""
    return holder.program.partition(".")[0]


def family(pid: int) -> set[int]:
    """A process and all that it has started, as far as they run."""
    try:
        process = psutil.Process(pid)
        return {pid, *(child.pid for child in process.children(recursive=True))}
    except psutil.Error:
        return set()


def _command(pid: int) -> list[str]:
    try:
        return psutil.Process(pid).cmdline()
    except psutil.Error:
        return []


def _name(pid: int) -> str | None:
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return None
