"""The Xen environment: each server in a domain of Xen's, on an emulated host with two sockets.

Xen is real and runs for the trial, in QEMU: what it places, weighs and accounts for is the emulated
host's, which has two sockets and two memory nodes whatever this machine has.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from tierlab.environments.capability import Capability, Probe
from tierlab.environments.domain import DomainSpec
from tierlab.environments.environment import Accelerator
from tierlab.environments.guests.bridged import BridgedEnvironment
from tierlab.environments.images import cache as image_cache
from tierlab.environments.images import image
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.native.host_probe import probe_host
from tierlab.environments.xen.accounts import XenAccounts
from tierlab.environments.xen.domain import XenDomain
from tierlab.environments.xen.host import XenHost
from tierlab.environments.xen.machine import (
    DESCRIPTION,
    DOMAIN_0_MEMORY,
    EMULATOR,
    MEMORY,
    NODES,
    PUS,
    XEN_MEMORY,
)
from tierlab.environments.xen.neighbour import XenNeighbour
from tierlab.environments.xen.timed_neighbour import XenTimedNeighbour
from tierlab.errors import UserError
from tierlab.machine.mapping import Seats
from tierlab.machine.programs import locate

NEEDED = (Capability.NETWORK, Capability.ACCOUNTING, Capability.UNPRIVILEGED)
"""The emulated host has these here or cannot be made."""

NEVER = {
    Capability.MIGRATE: "there is one host with Xen in a trial",
    Capability.DISK: "Xen limits no domain's use of a disk",
    Capability.RETRIES: "each domain's kernel has its own TCP",
    Capability.PROCESSES: "each server runs on a kernel of its own",
    Capability.SIMULATED_CACHES: "QEMU knows of Xen's host only, not whose domain runs on it",
    Capability.MOVE_MEMORY: "Xen gives a domain its memory when it starts",
}

EMULATED = 25.0
"""How many times as long work may take in a domain."""


class Xen(BridgedEnvironment):
    """Domains of Xen's, for one trial."""

    name: ClassVar[str] = "xen"
    machine: ClassVar[str] = DESCRIPTION

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and the image; `UserError` if no domain can be made."""
        if os.geteuid() != 0:
            raise _refusal("it needs root")
        if locate(EMULATOR) is None:
            raise _refusal("package qemu-system-x86 is missing")
        probe = probe_host(cls.name, NEVER)
        for capability in NEEDED:
            if capability in probe.cannot:
                raise _refusal(probe.cannot[capability])
        if probe.memory < MEMORY:
            raise _refusal(f"the emulated host alone takes {MEMORY >> 30} GiB of memory")
        try:
            image.find("xen")
        except UserError as error:
            raise _refusal(str(error).rstrip(".")) from error
        return replace(
            probe,
            can=frozenset(Capability) - frozenset(NEVER),
            cannot=NEVER,
            pus=PUS,
            nodes=NODES,
            memory=MEMORY - DOMAIN_0_MEMORY - XEN_MEMORY,
            machine=cls.machine,
            packages=frozenset(image.PACKAGES),
        )

    @property
    def accelerator(self) -> Accelerator:
        """Its host is emulated."""
        return "tcg"

    @property
    def slowness(self) -> float:
        """As an emulated processor is."""
        return EMULATED

    def create(self, spec: DomainSpec) -> XenDomain:
        """Make a domain: a folder now, a guest when it starts."""
        return XenDomain(self._ground, spec, self.host)

    def create_neighbour(self, name: str, seats: Seats) -> XenNeighbour:
        """Make one of Xen's: nothing of this host's runs on the emulated PUs."""
        return XenNeighbour(name, seats, self.host)

    def create_timed_neighbour(self, name: str, seats: Seats) -> XenTimedNeighbour:
        """Make one of Xen's, told by domain 0 when to compute."""
        return XenTimedNeighbour(name, seats, self.host)

    def accounts(self) -> XenAccounts:
        """Find those of domain 0, which the trial's first domain waits for."""
        return XenAccounts(self.host, self.host.machine.folder)

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        ground = super()._prepare(sysctls)
        self.host = XenHost(ground, image_cache.hold("xen"), sysctls)
        return ground


def _refusal(reason: str) -> UserError:
    return UserError(
        f"system.environment: xen cannot be used here, because {reason};"
        " mend that, or use environment 'native'."
    )
