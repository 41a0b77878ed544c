"""Where every instance of a system listens: known before any of them is started, so that the
tracer can see their first word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tierlab import experiment
from tierlab.environments.addresses import Addresses
from tierlab.environments.unix.address import check_length
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.kinds import KINDS
from tierlab.topology import Call, Topology


@dataclass(frozen=True)
class Place:
    """One instance: its subject's name, its tier, its software and its listening socket."""

    name: str
    tier: str
    """As its name has it: with its system's name before it where there are several."""
    server: str
    endpoint: Endpoint

    @property
    def system(self) -> str:
        """Its system's name; empty where there is one."""
        return self.tier.rpartition(".")[0]

    @property
    def own_tier(self) -> str:
        """Its tier as its system calls it."""
        return self.tier.rpartition(".")[2]

    @property
    def pass_through(self) -> bool:
        """Whether it only hands bytes on."""
        return KINDS[self.server].passes_through


def layout(
    shape: experiment.System,
    addresses: Addresses,
    name: str = "",
    before: int = 0,
    work: Path = Path("/"),
) -> dict[str, Place]:
    """Give every instance its place, by name, in a request's order.

    `name` is the system's where there are several; `before`, how many tiers other systems have;
    `work`, where each instance has its folder. `UserError` where a socket's path is too long.
    """
    spoken, at_sockets = shape.protocols, shape.at_sockets
    places = {}
    for at, (own, tier) in enumerate(shape.tiers.items(), before + 1):
        for number in range(1, tier.count + 1):
            protocol, port = spoken[own]
            own_address = tier.software.listens_on(tier.settings.options)
            address = own_address or addresses.server(at, number)
            full = full_name(name, own)
            server = f"{full}.{number}"
            socket = None
            if own in at_sockets:
                socket = tier.software.socket_in(tier.settings.options, work / server)
                check_length(server, socket)
            endpoint = Endpoint(address, port, protocol, socket)
            places[server] = Place(server, full, tier.server, endpoint)
    return places


def full_name(system: str, name: str) -> str:
    """The name that a tier or server of a system has among all systems'; the only one has none."""
    return f"{system}.{name}" if system else name


def topology(shape: experiment.System, places: Mapping[str, Place]) -> Topology:
    """Who calls whom of one system's: each server of a tier all of those that its tier calls."""
    tier_of = {name: place.tier for name, place in places.items()}
    workers = frozenset(name for name, place in places.items() if not place.endpoint.listens)
    calls = (
        Call(caller, callee, called.endpoint.protocol)
        for caller, calling in places.items()
        for tier in shape.callees(calling.own_tier)
        for callee, called in places.items()
        if called.own_tier == tier
    )
    return Topology(tier_of, tuple(calls), workers)
