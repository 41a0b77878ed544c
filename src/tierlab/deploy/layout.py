"""Where every instance of a system listens: known before any of them is started, so that the
tracer can see their first word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tierlab import experiment
from tierlab.environments.addresses import Addresses
from tierlab.errors import UserError
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
    spoken = protocols(shape)
    places = {}
    for at, (name, tier) in enumerate(shape.tiers.items(), 1):
        for number in range(1, tier.count + 1):
            protocol, port = spoken[name]
            endpoint = Endpoint(addresses.server(at, number), port, protocol)
            server = f"{name}.{number}"
            places[server] = Place(server, name, tier.server, endpoint)
    return places


def protocols(shape: experiment.System) -> dict[str, tuple[str, int]]:
    """What each tier speaks, and on which port: what those that call it want to.

    Users speak HTTP. Who passes through speaks what is spoken behind it.
    """
    entry = next(iter(shape.tiers))
    spoken = {entry: ("http", shape.tiers[entry].software.ports["http"])}
    for caller, declared in shape.application.tiers.items():
        for callee in declared.calls:
            if callee not in spoken:
                spoken[callee] = _protocol(shape, caller, callee)
    return spoken


def _protocol(shape: experiment.System, caller: str, callee: str) -> tuple[str, int]:
    ports = _ports(shape, callee)
    calling = shape.tiers[caller]
    if calling.software.passes_through:
        return next(iter(ports.items()))
    name = calling.software.caller_protocol(calling.settings.options, ports)
    if name is None:
        raise UserError(
            f"system.{callee}.server: {calling.server} cannot call {shape.tiers[callee].server},"
            f" which speaks {' and '.join(ports)}; choose another."
        )
    return name, ports[name]


def _ports(shape: experiment.System, tier: str) -> Mapping[str, int]:
    """What a tier's servers can speak."""
    software = shape.tiers[tier].software
    if not software.passes_through:
        return software.ports
    (behind,) = shape.application.tiers[tier].calls
    return _ports(shape, behind)


def topology(shape: experiment.System, places: Mapping[str, Place]) -> Topology:
    """Who calls whom of these: each server of a tier all of those that its tier calls."""
    tier_of = {name: place.tier for name, place in places.items()}
    calls = (
        Call(caller, callee, called.endpoint.protocol)
        for caller, calling in places.items()
        for tier in shape.application.tiers[calling.tier].calls
        for callee, called in places.items()
        if called.tier == tier
    )
    return Topology(tier_of, tuple(calls))
