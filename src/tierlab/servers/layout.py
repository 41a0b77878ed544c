"""Where every instance of a system listens: known before any of them is started, so that the
tracer can see their first word.
"""

from __future__ import annotations

from dataclasses import dataclass

from tierlab import experiment
from tierlab.servers.base import Endpoint

HTTP_PORT = 8080
AJP_PORT = 8009
MYSQL_PORT = 3306

PASS_THROUGH = frozenset({"haproxy"})
"""Servers that hand bytes on without being a party to the protocol."""


@dataclass(frozen=True)
class Place:
    """One instance: its subject's name, its server and its listening socket."""

    name: str
    server: str
    endpoint: Endpoint

    @property
    def pass_through(self) -> bool:
        """Whether it only hands bytes on."""
        return self.server in PASS_THROUGH


def layout(shape: experiment.System) -> dict[str, Place]:
    """Give every instance its place, by name, in a request's order.

    Each has a loopback address of its own, so that the tiers are told apart on the wire.
    """
    connector = {"ajp": AJP_PORT, "http": HTTP_PORT}[shape.web.connector]
    endpoints = {
        "web": [Endpoint("127.0.1.1", HTTP_PORT, "http")],
        "app": [Endpoint("127.0.2.1", connector, shape.web.connector)],
        "lb": [Endpoint("127.0.3.1", MYSQL_PORT, "mysql")],
        "db": [
            Endpoint(f"127.0.4.{number}", MYSQL_PORT, "mysql")
            for number in range(1, shape.db.count + 1)
        ],
    }
    return {
        f"{tier}.{number}": Place(f"{tier}.{number}", shape.tiers[tier].server, endpoint)
        for tier, listening in endpoints.items()
        for number, endpoint in enumerate(listening, 1)
    }
