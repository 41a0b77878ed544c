"""The podman environment: each server in an OCI container, made by podman and runc.

The containers' root is this host's, seen through an overlay: the same programs as with bare
processes, so that a difference between the two environments is the containers'.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tierlab.environments.base import Capability, DomainSpec, Probe
from tierlab.environments.host import HostEnvironment
from tierlab.environments.host_domain import Ground
from tierlab.environments.host_probe import probe_host
from tierlab.environments.podman_domain import PodmanDomain
from tierlab.environments.podman_root import obstacle
from tierlab.environments.podman_storage import Storage, last_words
from tierlab.errors import UserError
from tierlab.machine.programs import SYSTEM_PATH

PROGRAMS: Mapping[str, str] = {
    "podman": "podman",
    "conmon": "conmon",
    "runc": "runc",
    "catatonit": "catatonit",
}
"""Each with the Debian package that brings it."""

INSIDE = ("catatonit", "setpriv", "sh")
"""What runs in each container."""

PROBE_SECONDS = 10.0

NEEDED = (Capability.NETWORK, Capability.ACCOUNTING, Capability.UNPRIVILEGED)
"""A container has these here or cannot be made."""


class Podman(HostEnvironment):
    """Containers on this host, for one trial; storage of their own below the trial's folder."""

    name: ClassVar[str] = "podman"

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and control groups; `UserError` if no container can be made."""
        if os.geteuid() != 0:
            raise _refusal("it needs root")
        missing = [package for name, package in PROGRAMS.items() if _locate(name) is None]
        if missing:
            raise _refusal(f"packages are missing: {', '.join(dict.fromkeys(missing))}")
        never = {Capability.MIGRATE: "its containers are not moved to another host yet"}
        probe = probe_host(cls.name, never)
        faults = (
            *(probe.cannot.get(capability) for capability in NEEDED),
            _runtime_fault(),
            *(obstacle(Path(_locate(name) or "/")) for name in INSIDE),
        )
        for fault in faults:
            if fault is not None:
                raise _refusal(fault)
        return probe

    def create(self, spec: DomainSpec) -> PodmanDomain:
        """Make a domain: a folder now, a container when it starts."""
        return PodmanDomain(self._ground, spec, self._storage)

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        ground = super()._prepare(sysctls)
        assert ground.hierarchy is not None  # `probe` refuses a machine without
        # Before any group: the last of what a ledger lists goes first.
        ground.hierarchy.hand_down_all(self._ledger)
        self._storage = Storage(self.work / ".podman", self._ledger.token)
        self._storage.make(self._ledger)
        return ground


def _locate(program: str) -> str | None:
    """Find a program where podman does, whatever this process's own PATH."""
    return shutil.which(program, path=SYSTEM_PATH)


def _runtime_fault() -> str | None:
    """Why runc cannot be run; None if it can."""
    command = ["runc", "--version"]
    try:
        done = subprocess.run(
            command,
            env={"PATH": SYSTEM_PATH},
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"'runc --version' cannot be run ({error})"
    return None if done.returncode == 0 else f"'runc --version' fails ({last_words(done.stderr)})"


def _refusal(reason: str) -> UserError:
    return UserError(
        f"system.environment: podman cannot be used here, because {reason};"
        " mend that, or use environment 'native'."
    )
