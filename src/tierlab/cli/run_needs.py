"""What a run needs besides the machine itself, as the doctor's checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tierlab.environments.base import Capability
from tierlab.environments.host import WORK_ROOT
from tierlab.environments.native import Native
from tierlab.errors import UserError
from tierlab.machine.check import Check, Verdict
from tierlab.servers.kinds import KINDS
from tierlab.servers.mariadb_seed import cache_folder
from tierlab.servers.rubbos import PROJECT
from tierlab.trial import agent
from tierlab.workloads.rubbos.shape import application_jar

GROUP = "programs"
PROGRAMS = {
    **{program: package for kind in KINDS.values() for program, package in kind.programs.items()},
    "lstopo-no-graphics": "hwloc-nox",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
}
"""Each with the Debian package that brings it."""


def folders(runs: Path) -> dict[str, tuple[Path, str]]:
    """Where a run keeps files, by what they are, each with how to keep them elsewhere."""
    return {
        "runs": (runs, ", or keep runs elsewhere: tierlab run --runs DIR"),
        "servers": (WORK_ROOT, ""),
        "seed data": (cache_folder(), ", or set XDG_CACHE_HOME to a folder on another disk"),
    }


def checks() -> Iterator[Check]:
    """The agent, the application, and the environment that the demo uses."""
    yield _agent()
    yield _application()
    yield _native()


def _agent() -> Check:
    """The part that touches the machine under test."""
    name = "tierlab-agent"
    try:
        path = agent.binary()
    except UserError as error:
        seen = str(error).partition(":")[0]
        remedy = "make setup, or name the binary in TIERLAB_AGENT"
        return Check(GROUP, name, Verdict.MISSING, seen, "every run", remedy, needed=True)
    return Check(GROUP, name, Verdict.WORKS, path, needed=True)


def _application() -> Check:
    """RUBBoS, built."""
    jar = application_jar(PROJECT)
    if jar.exists():
        return Check(GROUP, "RUBBoS", Verdict.WORKS, str(jar), needed=True)
    seen = f"{jar} is not built"
    return Check(GROUP, "RUBBoS", Verdict.MISSING, seen, "every run", "make setup", needed=True)


def _native() -> Check:
    """What the native environment says of itself; to move a bare process is nobody's wish."""
    try:
        probe = Native.probe()
    except UserError as error:
        return Check("environments", "native", Verdict.MISSING, str(error), "every run")
    cannot = {c: why for c, why in probe.cannot.items() if c is not Capability.MIGRATE}
    if not cannot:
        seen = ", ".join(sorted(probe.can))
        return Check("environments", "native", Verdict.WORKS, seen)
    reasons = dict.fromkeys(cannot.values())
    return Check(
        "environments",
        "native",
        Verdict.PARTLY,
        f"without {', '.join(sorted(cannot))}",
        "; ".join(reasons),
    )
