"""Where every instance of a system listens: known before any of them is started, so that the
tracer can see their first word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tierlab import experiment
from tierlab.environments.addresses import Addresses
from tierlab.servers.base import Endpoint
from tierlab.topology import Topology

HTTP_PORT = 8080
AJP_PORT = 8009
MYSQL_PORT = 3306

PASS_THROUGH = frozenset({"haproxy"})
"""Servers that hand bytes on without being a party to the protocol."""


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
        return self.server in PASS_THROUGH


def layout(shape: experiment.System, addresses: Addresses) -> dict[str, Place]:
    """Give every instance its place, by name, in a request's order."""
    connector = {"ajp": AJP_PORT, "http": HTTP_PORT}[shape.web.connector]
    listening = {
        "web": (HTTP_PORT, "http"),
        "app": (connector, shape.web.connector),
        "lb": (MYSQL_PORT, "mysql"),
        "db": (MYSQL_PORT, "mysql"),
    }
    places = {}
    for at, (name, tier) in enumerate(shape.tiers.items(), 1):
        for number in range(1, tier.count + 1):
            endpoint = Endpoint(addresses.server(at, number), *listening[name])
            server = f"{name}.{number}"
            places[server] = Place(server, name, tier.server, endpoint)
    return places


def topology(places: Mapping[str, Place]) -> Topology:
    """Who calls whom of these: each tier calls the next."""
    return Topology.chain(
        {name: place.tier for name, place in places.items()},
        {name: place.endpoint.protocol for name, place in places.items()},
    )
