"""What this host allows an environment of containers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tierlab.environments.capability import Capability, Probe
from tierlab.environments.containers.root import obstacle
from tierlab.environments.native.host_probe import probe_host
from tierlab.errors import UserError
from tierlab.machine.programs import SYSTEM_PATH

INSIDE = ("catatonit", "setpriv", "sh")
"""What runs in each container."""

NEEDED = (Capability.NETWORK, Capability.ACCOUNTING, Capability.UNPRIVILEGED)
"""A container has these here or cannot be made."""


def probe_containers(
    environment: str, programs: Mapping[str, str], runtime_fault: Callable[[], str | None]
) -> Probe:
    """Look at rights, programs and control groups; `UserError` if no container can be made.

    `programs`: each with the Debian package that brings it. `runtime_fault`: what is wrong with
    them, asked once they are there.
    """
    if os.geteuid() != 0:
        raise _refusal(environment, "it needs root")
    missing = [package for name, package in programs.items() if locate(name) is None]
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        raise _refusal(environment, f"packages are missing: {names}")
    never = {
        Capability.MIGRATE: "it takes CRIU, and Debian 12's (3.17) fails on kernels as new as 6.18"
    }
    probe = probe_host(environment, never)
    for fault in (
        *(probe.cannot.get(capability) for capability in NEEDED),
        runtime_fault(),
        *(obstacle(Path(locate(name) or "/")) for name in INSIDE),
    ):
        if fault is not None:
            raise _refusal(environment, fault)
    return probe


def locate(program: str) -> str | None:
    """Find a program where the daemons do, whatever this process's own PATH."""
    return shutil.which(program, path=SYSTEM_PATH)


def _refusal(environment: str, reason: str) -> UserError:
    return UserError(
        f"system.environment: {environment} cannot be used here, because {reason};"
        " mend that, or use environment 'native'."
    )
