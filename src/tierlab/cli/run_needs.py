"""What a run needs besides the machine itself, as the doctor's checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tierlab import installation
from tierlab.environments.capability import Capability
from tierlab.environments.native.host import WORK_ROOT, HostEnvironment
from tierlab.errors import UserError
from tierlab.machine.check import Check, Verdict
from tierlab.servers.kinds import KINDS
from tierlab.servers.mariadb_seed import cache_folder
from tierlab.trial import agent
from tierlab.trial.life import ENVIRONMENTS
from tierlab.workloads.rubbos.shape import APPLICATION_JAR

GROUP = "programs"
LOST = {
    "native": "every run",
    "podman": "runs in containers",
    "docker": "runs in containers of Docker's",
    "lxc": "runs in LXC",
    "qemu": "runs in virtual machines",
    "xen": "runs in domains of Xen's",
    "vsphere": "runs on vSphere",
}
"""What cannot be had without an environment."""
BY_NATURE = frozenset(
    {
        *(Capability.MESSAGES, Capability.MIGRATE, Capability.MOVE_MEMORY),
        *(Capability.NEIGHBOURS, Capability.PROCESSES, Capability.VCPUS),
    }
)
"""What an environment can do or cannot wherever it is: no news of this machine."""
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
    """The agent, the application, and the environments; the demo uses the first."""
    yield _agent()
    yield _application()
    for kind in ENVIRONMENTS.values():
        yield _environment(kind)


def _agent() -> Check:
    """The part that touches the machine under test."""
    name = "tierlab-agent"
    try:
        path = agent.binary()
    except UserError as error:
        seen = str(error).partition(":")[0]
        remedy = f"{installation.REMEDY}, or name the binary in TIERLAB_AGENT"
        return Check(GROUP, name, Verdict.MISSING, seen, "every run", remedy, needed=True)
    return Check(GROUP, name, Verdict.WORKS, path, needed=True)


def _application() -> Check:
    """RUBBoS, built."""
    jar = APPLICATION_JAR
    if jar.exists():
        return Check(GROUP, "RUBBoS", Verdict.WORKS, str(jar), needed=True)
    seen = f"{jar} is missing"
    remedy = installation.REMEDY
    return Check(GROUP, "RUBBoS", Verdict.MISSING, seen, "every run", remedy, needed=True)


def _environment(kind: type[HostEnvironment]) -> Check:
    """What an environment says of itself here."""
    group, name = "environments", kind.name
    lost = LOST[name]
    try:
        probe = kind.probe()
    except UserError as error:
        return Check(group, name, Verdict.MISSING, str(error), lost)
    cannot = {c: why for c, why in probe.cannot.items() if c not in BY_NATURE}
    if not cannot:
        return Check(group, name, Verdict.WORKS, ", ".join(sorted(probe.can)))
    reasons = dict.fromkeys(cannot.values())
    without = f"without {', '.join(sorted(cannot))}"
    return Check(group, name, Verdict.PARTLY, without, "; ".join(reasons))
