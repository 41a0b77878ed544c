"""Where every instance of a system listens: known before any of them is started, so that the
tracer can see their first word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tierlab import experiment
from tierlab.environments.addresses import Addresses
from tierlab.servers.base import Endpoint
from tierlab.servers.kinds import KINDS
from tierlab.topology import Call, Topology


@dataclass(frozen=True)
class Place:
    """One instance: its subject's name, its tier, its software and its listening socket."""

    name: str
    tier: str
    server: str
    endpoint: Endpoint

    @property
    def pass_through(self) -> bool:
        """Whether it only hands bytes on."""
        return KINDS[self.server].passes_through


def layout(shape: experiment.System, addresses: Addresses) -> dict[str, Place]:
    """Give every instance its place, by name, in a request's order."""
    spoken = shape.protocols
    places = {}
    for at, (name, tier) in enumerate(shape.tiers.items(), 1):
        for number in range(1, tier.count + 1):
            protocol, port = spoken[name]
            endpoint = Endpoint(addresses.server(at, number), port, protocol)
            server = f"{name}.{number}"
            places[server] = Place(server, name, tier.server, endpoint)
    return places


def topology(shape: experiment.System, places: Mapping[str, Place]) -> Topology:
    """Who calls whom of these: each server of a tier all of those that its tier calls."""
    tier_of = {name: place.tier for name, place in places.items()}
    calls = (
        Call(caller, callee, called.endpoint.protocol)
        for caller, calling in places.items()
        for tier in shape.callees(calling.tier)
        for callee, called in places.items()
        if called.tier == tier
    )
    return Topology(tier_of, tuple(calls))
