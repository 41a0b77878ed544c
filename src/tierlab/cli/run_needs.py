"""What a run needs besides the machine itself, as the doctor's checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tierlab import installation
from tierlab.environments.capability import Capability
from tierlab.environments.kinds import KINDS
from tierlab.environments.native.host import WORK_ROOT, HostEnvironment
from tierlab.errors import UserError
from tierlab.machine.check import Check, Verdict
from tierlab.machine.programs import locate
from tierlab.observe import agent
from tierlab.servers.made_once import cache_folder
from tierlab.workloads.kinds import WORKLOADS
from tierlab.workloads.workload import Workload

GROUP = "programs"
LOST = {
    "native": "every run",
    "host": "runs beside servers that run already",
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
        *(Capability.NEIGHBOURS, Capability.PROCESSES, Capability.SIMULATED_CACHES),
        *(Capability.STEAL, Capability.VCPUS),
    }
)
"""What an environment can do or cannot wherever it is: no news of this machine."""
DEMO = WORKLOADS["rubbos"]
PROGRAMS = {
    **{
        program: package
        for tier in DEMO.tiers.values()
        for program, package in tier.software[0].programs.items()
    },
    "lstopo-no-graphics": "hwloc-nox",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
}
"""Each with the Debian package that brings it."""
VERSION_ARGUMENTS = {
    **{
        program: tier.software[0].version_argument
        for tier in DEMO.tiers.values()
        for program in tier.software[0].programs
    },
    "ip": "-V",
}
"""By which they tell their versions; what is not here does by the usual one."""


def folders(runs: Path) -> dict[str, tuple[Path, str]]:
    """Where a run keeps files, by what they are, each with how to keep them elsewhere."""
    seeds = cache_folder("mariadb")
    return {
        "runs": (runs, ", or keep runs elsewhere: tierlab run --runs DIR"),
        "servers": (WORK_ROOT, ""),
        "seed data": (seeds, ", or set XDG_CACHE_HOME to a folder on another disk"),
    }


def agent_path() -> str | None:
    """Where the agent is; None if it is nowhere."""
    try:
        return agent.binary()
    except UserError:
        return None


def checks() -> Iterator[Check]:
    """The agent, the applications, and the environments; the demo uses the first of each."""
    yield _agent()
    for workload in WORKLOADS.values():
        yield _workload(workload)
    for kind in KINDS.values():
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


def _workload(workload: Workload) -> Check:
    """An application: whether it is built, and all software that it may run on is there."""
    name, demo = f"workload {workload.name}", workload is DEMO
    lost = "every run" if demo else f'runs of workload "{workload.name}" on that software'
    try:
        workload.check()
    except UserError as error:
        seen = str(error).partition(":")[0]
        return Check(GROUP, name, Verdict.MISSING, seen, lost, installation.REMEDY, needed=demo)
    wanted = {
        program: package
        for tier in workload.tiers.values()
        for software in tier.software
        for program, package in software.programs.items()
    }
    missing = {program: package for program, package in wanted.items() if locate(program) is None}
    missing |= {path.name: package for path, package in workload.files.items() if not path.exists()}
    if not missing:
        seen = "all its software is here" if workload.place is None else str(workload.place)
        return Check(GROUP, name, Verdict.WORKS, seen, needed=demo)
    remedy = f"apt-get install {' '.join(dict.fromkeys(missing.values()))}"
    return Check(GROUP, name, Verdict.PARTLY, f"without {', '.join(missing)}", lost, remedy)


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
