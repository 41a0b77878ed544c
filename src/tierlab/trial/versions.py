"""Which software a trial runs: the laboratory's own, the servers' and the Java machine."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

from tierlab.errors import UserError
from tierlab.machine.programs import Program, look_up
from tierlab.servers.kinds import KINDS
from tierlab.servers.tomcat import Tomcat
from tierlab.trial import agent
from tierlab.workloads.rubbos.shape import APPLICATION_LIBRARIES

EMBEDDED = re.compile(r"tomcat-embed-core-(.+)\.jar")
DOTTED = re.compile(r"\d+(?:\.\d+)+")


def programs() -> dict[str, Program]:
    """Each server's program as it is on this machine, by the server's kind."""
    return {kind: look_up(*next(iter(server.programs.items()))) for kind, server in KINDS.items()}


def versions(found: dict[str, Program]) -> dict[str, str]:
    """Version by name; what does not tell its version is left out.

    Tomcat is a library of the application, and what runs it is ``java``.
    """
    told = {
        "tierlab": version("tierlab"),
        "tierlab-agent": _agent(),
        **{("java" if kind == Tomcat.kind else kind): _number(p) for kind, p in found.items()},
        Tomcat.kind: _tomcat(APPLICATION_LIBRARIES),
    }
    return {name: number for name, number in told.items() if number is not None}


def _number(program: Program) -> str | None:
    said = DOTTED.search(program.version or "")
    return said[0] if said else None


def _agent() -> str | None:
    try:
        return _number(look_up(agent.binary(), ""))
    except UserError:
        return None  # the trial is about to say so


def _tomcat(libraries: Path) -> str | None:
    names = (EMBEDDED.fullmatch(path.name) for path in libraries.glob("*.jar"))
    return next((name[1] for name in names if name), None)
