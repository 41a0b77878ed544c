"""The QEMU environment: each server in a guest, a virtual machine that libvirt keeps.

Where this machine's processors can run guests, they do (KVM); else they are emulated (TCG).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from tierlab.environments.capability import Capability, Probe
from tierlab.environments.daemons import libvirt as libvirt_daemon
from tierlab.environments.domain import DomainSpec
from tierlab.environments.environment import Accelerator
from tierlab.environments.files import make_folder
from tierlab.environments.guests.bridged import BridgedEnvironment
from tierlab.environments.images import cache as image_cache
from tierlab.environments.images import image
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.native.host_probe import probe_host
from tierlab.environments.qemu import kvm, simulated_caches
from tierlab.environments.qemu.accounts import QemuAccounts
from tierlab.environments.qemu.domain import Hypervisor, QemuDomain, identity
from tierlab.environments.qemu.hosts import Hosts
from tierlab.environments.qemu.simulated_caches import SimulatedCaches
from tierlab.errors import UserError
from tierlab.machine.programs import locate

PROGRAMS: Mapping[str, str] = {
    **libvirt_daemon.PROGRAMS,
    "qemu-system-x86_64": "qemu-system-x86",
}
"""Each with the Debian package that brings it."""

NEEDED = (
    *(Capability.NETWORK, Capability.ACCOUNTING, Capability.UNPRIVILEGED),
    *(Capability.PIN, Capability.WEIGHT),
)
"""A guest has these here or cannot be made."""

NEVER = {
    Capability.STEAL: "no guest is made yet that takes it; emulated CPUs would not tell of it",
    Capability.DISK: "a guest's disk is a file of this host's that its hypervisor reads and writes",
    Capability.RETRIES: "each guest's kernel has its own TCP",
    Capability.PROCESSES: "each server runs on a kernel of its own",
}

SLOWNESS: Mapping[Accelerator, float] = {"kvm": 1.5, "tcg": 15.0}
"""How many times as long work may take in a guest."""


class Qemu(BridgedEnvironment):
    """Guests on this host, for one trial."""

    name: ClassVar[str] = "qemu"
    _hypervisor: Hypervisor

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and the image; `UserError` if no guest can be made."""
        if os.geteuid() != 0:
            raise _refusal("it needs root")
        missing = [package for name, package in PROGRAMS.items() if locate(name) is None]
        if missing:
            raise _refusal(f"packages are missing: {', '.join(dict.fromkeys(missing))}")
        probe = probe_host(cls.name, NEVER)
        for capability in NEEDED:
            if capability in probe.cannot:
                raise _refusal(probe.cannot[capability])
        try:
            image.find("guest")
        except UserError as error:
            raise _refusal(str(error).rstrip(".")) from error
        cannot = dict(probe.cannot)
        del cannot[Capability.VCPUS], cannot[Capability.SIMULATED_CACHES]
        if (reason := simulated_caches.obstacle()) is not None:
            cannot[Capability.SIMULATED_CACHES] = reason
        can, packages = frozenset(Capability) - frozenset(cannot), frozenset(image.PACKAGES)
        return replace(probe, can=can, cannot=cannot, packages=packages)

    @property
    def accelerator(self) -> Accelerator:
        """KVM where it serves."""
        return "kvm" if kvm.serves() else "tcg"

    @property
    def slowness(self) -> float:
        """By what runs the guests."""
        return SLOWNESS[self.accelerator]

    def create(self, spec: DomainSpec) -> QemuDomain:
        """Make a domain: a folder now, a guest when it starts."""
        if spec.moves:
            self._hypervisor.hosts.open()
        return QemuDomain(self._ground, spec, self._hypervisor)

    def simulate_caches(self, machine: str) -> None:
        """Simulate them for the guests that are made from now on."""
        if (reason := self._ground.cannot.get(Capability.SIMULATED_CACHES)) is not None:
            raise self.no_caches(reason)
        simulated = SimulatedCaches(machine, self._hypervisor.folder)
        self._hypervisor = replace(self._hypervisor, caches=simulated)

    def accounts(self) -> QemuAccounts:
        """Find what QEMU counts of its guests' disks, and of simulated caches."""
        return QemuAccounts(
            self._hypervisor.hosts.daemons,
            identity(self._ledger.trial, ""),
            self._hypervisor.caches,
        )

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        ground = super()._prepare(sysctls)
        folder = self.work / ".guests"
        make_folder(self._ledger, folder, mode=0o700)
        image_here = image_cache.hold("guest")
        self._hypervisor = Hypervisor(
            Hosts(ground), image_here, self.accelerator == "kvm", sysctls, folder
        )
        return ground


def _refusal(reason: str) -> UserError:
    return UserError(
        f"system.environment: qemu cannot be used here, because {reason};"
        " mend that, or use environment 'native'."
    )
