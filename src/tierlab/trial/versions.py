"""Which software a trial runs: the laboratory's own, the servers' and the Java machine."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from tierlab.errors import UserError
from tierlab.machine.programs import Program, look_up
from tierlab.observe import agent
from tierlab.servers.base import Server
from tierlab.servers.kinds import KINDS


def programs(servers: Iterable[type[Server]]) -> dict[str, Program]:
    """Each server's program as it is on this machine, by the server's kind; not a user's own."""
    return {
        each.kind: look_up(*next(iter(each.programs.items())), each.version_argument)
        for each in servers
        if each.programs
    }


def versions(found: dict[str, Program], libraries: Path | None) -> dict[str, str]:
    """Version by name; what does not tell its version is left out. `libraries`: the workload's."""
    told = {"tierlab": version("tierlab"), "tierlab-agent": _agent()}
    for kind, program in found.items():
        told |= KINDS[kind].versions(program, libraries)
    return {name: number for name, number in told.items() if number is not None}


def _agent() -> str | None:
    try:
        return look_up(agent.binary(), "").number
    except UserError:
        return None  # the trial is about to say so
