"""What this host allows an environment on its own kernel."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import psutil

from tierlab.environments.capability import Capability, Probe
from tierlab.environments.cgroups.find import find_hierarchy
from tierlab.environments.device import obstacle as disk_obstacle
from tierlab.environments.native.host import WORK_ROOT
from tierlab.environments.network.tcp import obstacle
from tierlab.machine import topology

CAP_SYS_ADMIN = 21
GROUPS = (
    Capability.ACCOUNTING,
    Capability.PIN,
    Capability.WEIGHT,
    Capability.MEMORY,
    Capability.DISK,
)
"""What needs control groups."""
OF_NETWORKS = {"nsenter": "util-linux", "unshare": "util-linux", "ip": "iproute2"}
"""What makes a network and enters it, each with the Debian package that brings it."""


def probe_host(environment: str, never: Mapping[Capability, str]) -> Probe:
    """Look at rights, programs and control groups; changes nothing.

    `never`: what the environment cannot do on any host, each with its reason.
    """
    cannot = {
        Capability.VCPUS: "its servers run on the host's own",
        Capability.SIMULATED_CACHES: "its servers' processors are not emulated",
        Capability.STEAL: "no hypervisor of the trial's own runs its servers",
        **never,
    }
    root = os.geteuid() == 0
    if not root:
        cannot[Capability.NETWORK] = "a network namespace of its own needs root"
    else:
        missing = [name for name in OF_NETWORKS if shutil.which(name) is None]
        if missing:
            package = OF_NETWORKS[missing[0]]
            cannot[Capability.NETWORK] = f"{missing[0]} is missing (package {package})"
        elif not _may(CAP_SYS_ADMIN):
            cannot[Capability.NETWORK] = "this root has no CAP_SYS_ADMIN (a container's?)"
        if shutil.which("setpriv") is None:
            cannot[Capability.UNPRIVILEGED] = "setpriv is missing (package util-linux)"
    shape = topology.read()
    hierarchy = find_hierarchy() if root else "control groups need root"
    if isinstance(hierarchy, str):
        cannot |= dict.fromkeys(GROUPS, hierarchy)
    else:
        cannot |= hierarchy.missing()
    if (undivided := disk_obstacle(WORK_ROOT)) is not None:
        cannot.setdefault(Capability.DISK, undivided)
    if (unpinned := cannot.get(Capability.PIN)) is not None:
        cannot.setdefault(Capability.MOVE_MEMORY, unpinned)
    retries = cannot.get(Capability.NETWORK) or obstacle(hierarchy)
    if retries is not None:
        cannot[Capability.RETRIES] = retries
    return Probe(
        environment,
        can=frozenset(Capability) - frozenset(cannot),
        cannot=cannot,
        pus=frozenset(shape.by_number),
        nodes=frozenset(shape.nodes),
        memory=psutil.virtual_memory().total,
    )


def _may(capability: int) -> bool:
    """Whether this process has a capability, by its number in capability.h."""
    status = Path("/proc/self/status").read_text()
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(effective.split()[1], 16) >> capability & 1)
