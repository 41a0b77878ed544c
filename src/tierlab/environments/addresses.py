"""Which addresses servers and users have on a trial's network, and where every message passes."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network


@dataclass(frozen=True)
class Addresses:
    """The address plan of a trial's network."""

    servers: IPv4Network
    """A network of 65,536 addresses."""
    users: IPv4Network
    """The users' addresses: a million, so that closed connections never use up the ports."""
    crowd: IPv4Network
    """As many for users who come beside them, all at once."""
    interface: str
    """Where every message is seen exactly once."""

    def server(self, tier: int, number: int) -> str:
        """Address of instance `number` of a request's `tier`-th tier, both from 1 to 254.

        Each instance has one of its own, so that the tiers are told apart on the wire.
        """
        return str(self.servers[(tier << 8) + number])


LOOPBACK = Addresses(
    servers=IPv4Network("127.0.0.0/16"),
    users=IPv4Network("127.128.0.0/12"),
    crowd=IPv4Network("127.160.0.0/12"),
    interface="lo",
)
"""All on the loopback of one kernel."""

BRIDGED = Addresses(
    servers=IPv4Network("10.0.0.0/16"),
    users=IPv4Network("10.128.0.0/12"),
    crowd=IPv4Network("10.160.0.0/12"),
    interface="tierlab0",
)
"""Domains with a kernel of their own, on a bridge in the trial's network namespace; these addresses
are also in use on many a host's own networks, which never meet it."""
