"""What environments share whose domains have a kernel and an address of their own."""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.environments.addresses import BRIDGED, Addresses
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.environment import Environment
from tierlab.environments.native.host import UNKNOWN, HostEnvironment
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.native.native_domain import NativeDomain
from tierlab.environments.network import bridge

LISTENER_SECONDS = 0.2


class BridgedEnvironment(HostEnvironment):
    """Domains on a bridge in the trial's network namespace, for one trial."""

    @property
    def addresses(self) -> Addresses:
        """On the bridge."""
        return BRIDGED

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        ground = super()._prepare(sysctls)
        assert ground.namespace is not None  # `probe` refuses a machine without
        bridge.create(ground.namespace, BRIDGED)
        return ground

    def create_here(self, spec: DomainSpec) -> Domain:
        """Make a domain of bare processes on this host."""
        return NativeDomain(self._ground, spec)

    def listener(self, address: str, port: int) -> str | None:
        """Try to connect: another domain's ports cannot be bound from here."""
        return UNKNOWN if reached(self, address, port) else None


def reached(environment: Environment, address: str, port: int) -> bool:
    """Whether somebody listens at a port of another kernel's."""
    try:
        environment.connect(address, port, timeout=LISTENER_SECONDS).close()
    except OSError:
        return False
    return True
