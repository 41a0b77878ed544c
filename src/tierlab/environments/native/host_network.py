"""The host environment: bare processes on this host's own network, where others run already."""

from __future__ import annotations

from typing import ClassVar

from tierlab.environments.capability import Capability, Probe
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.native.host_probe import probe_host
from tierlab.environments.native.native_domain import NativeDomain
from tierlab.environments.native.standing_domain import StandingDomain


class HostNetwork(HostEnvironment):
    """Bare processes as in the native environment, beside those that run on this host already.

    A trial has no network of its own: ports are the host's, and what others send over the same
    interface is seen too, as far as it is to or from a server of the trial.
    """

    name: ClassVar[str] = "host"

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and control groups; changes nothing."""
        own_network = "the trial is on this host's own network"
        return probe_host(
            cls.name,
            {
                Capability.MIGRATE: "a bare process cannot move to another host",
                Capability.NETWORK: own_network,
                Capability.RETRIES: own_network,
            },
        )

    def create(self, spec: DomainSpec) -> Domain:
        """Make a domain; of a server that runs already, what is seen of it."""
        if spec.standing is not None or spec.standing_socket is not None:
            return StandingDomain(self._ground, spec)
        return NativeDomain(self._ground, spec)
