"""A guest without a kernel: a domain with a network namespace, and so an address, of its own.

A pair of virtual cables joins it to the trial's bridge. What is built around guests is tested with
it in seconds; the guests themselves have tests of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from subprocess import STDOUT
from typing import ClassVar

import pyroute2

from tierlab.environments.addresses import BRIDGED
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.domain import DomainSpec, Inside
from tierlab.environments.guests.bridged import BridgedEnvironment
from tierlab.environments.launching import launch_program
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.native.host_probe import probe_host
from tierlab.environments.native.native_domain import NativeDomain
from tierlab.environments.network import netns
from tierlab.environments.network.bridge import gateway
from tierlab.environments.process import Launch, Process


class VethDomain(NativeDomain):
    """Bare processes behind an interface ``eth0``."""

    def __init__(self, ground: Ground, spec: DomainSpec) -> None:
        super().__init__(ground, spec)
        self.namespace: netns.HeldNamespace | None = None

    def inside(self) -> Inside:
        return VethInside(self)

    def _make_group(self) -> Group | None:
        self.namespace = self._join()
        return super()._make_group()

    def _entry(self) -> Sequence[str]:
        assert self.namespace is not None
        return self.namespace.entry

    def destroy(self) -> None:
        super().destroy()
        self.leave()

    def leave(self) -> None:
        """Have the network namespace go."""
        if self.namespace is not None:
            self.namespace.close()

    def _join(self) -> netns.HeldNamespace:
        trial = self._ground.namespace
        assert trial is not None
        joined = netns.create({})
        trial.inside(lambda: _plug(self.spec.name, joined.path))
        joined.inside(lambda: _address(self.spec))
        return joined


class VethInside(Inside):
    """Programs of the laboratory in the domain, with all rights."""

    def __init__(self, domain: VethDomain) -> None:
        self._domain = domain

    def spawn(self, argv: Sequence[str], *, log: str) -> Process:
        domain = self._domain
        ledger, path = domain._ground.ledger, domain.folder / log
        path.parent.mkdir(parents=True, exist_ok=True)
        launch = Launch(argv, ledger.token, prefix=domain._entry(), cwd=domain.folder)
        with path.open("ab") as output:
            return launch_program(ledger, launch, output.fileno(), STDOUT)


class Veth(BridgedEnvironment):
    """The environment of such guests."""

    name: ClassVar[str] = "veth"
    _domains: tuple[VethDomain, ...] = ()

    @classmethod
    def probe(cls) -> Probe:
        return probe_host(
            cls.name,
            {
                Capability.MIGRATE: "a test does not",
                Capability.PROCESSES: "each server is behind an interface of its own",
            },
        )

    def create(self, spec: DomainSpec) -> VethDomain:
        domain = VethDomain(self._ground, spec)
        self._domains = (*self._domains, domain)
        return domain

    def destroy(self) -> None:
        super().destroy()
        for domain in self._domains:
            domain.leave()


def _plug(port: str, namespace: Path) -> None:
    """One end stays, on the bridge."""
    with pyroute2.IPRoute() as route:
        (bridge,) = route.link_lookup(ifname=BRIDGED.interface)
        with namespace.open() as target:
            peer = {"ifname": "eth0", "net_ns_fd": target.fileno()}
            route.link("add", ifname=port, kind="veth", peer=peer)
        (here,) = route.link_lookup(ifname=port)
        route.link("set", index=here, master=bridge, state="up")


def _address(spec: DomainSpec) -> None:
    with pyroute2.IPRoute() as route:
        for name in ("lo", "eth0"):
            (link,) = route.link_lookup(ifname=name)
            route.link("set", index=link, state="up")
        if spec.address is not None:
            route.addr("add", index=link, address=spec.address, prefixlen=16)
            route.route("add", dst="default", gateway=gateway(BRIDGED))
