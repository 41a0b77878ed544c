"""The native environment: bare processes on this host."""

from __future__ import annotations

from typing import ClassVar

from tierlab.environments.capability import Capability, Probe
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.native.host_probe import probe_host
from tierlab.environments.native.native_domain import NativeDomain


class Native(HostEnvironment):
    """Bare processes on this host, for one trial.

    Without privilege the servers are processes of the caller on the host's own loopback; `probe`
    says what is missing then.
    """

    name: ClassVar[str] = "native"

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and control groups; changes nothing."""
        return probe_host(
            cls.name, {Capability.MIGRATE: "a bare process cannot move to another host"}
        )

    def create(self, spec: DomainSpec) -> NativeDomain:
        """Make a domain: a folder now, a control group when it starts."""
        return NativeDomain(self._ground, spec)
