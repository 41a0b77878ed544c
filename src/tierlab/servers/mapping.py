"""From an experiment's `[system]` to a mapping: which PUs each server has on a given machine."""

from __future__ import annotations

from collections.abc import Iterator

from tierlab import experiment
from tierlab.errors import UserError
from tierlab.machine import topology
from tierlab.machine.hwloc import HOST, pus_at
from tierlab.machine.mapping import USUAL_WEIGHT, Plan, Seats, VCpu, one_each
from tierlab.machine.named_mappings import seat


def plan(shape: experiment.System, source: str = HOST) -> Plan:
    """Seat the servers that are placed on the machine of `source`; the others are not in it.

    UserError that names the key when a place is not on that machine.
    """
    seated = asked_pus(shape, source)
    return {
        name: Seats(
            seated[name],
            tier.mapping.weight or USUAL_WEIGHT,
            None if tier.mapping.memory_node is None else frozenset({tier.mapping.memory_node}),
        )
        for name, tier in servers(shape)
        if name in seated
    }


def asked_pus(shape: experiment.System, source: str = HOST) -> dict[str, tuple[VCpu, ...]]:
    """The PUs of the servers for which the experiment asks for some, one for each vCPU."""
    if shape.mapping is not None:
        vcpus = {name: tier.mapping.vcpus or 1 for name, tier in servers(shape)}
        try:
            return dict(seat(shape.mapping, topology.read(source), vcpus))
        except UserError as error:
            raise UserError(f"system.mapping: {error}") from None
    found = {}
    for name, tier in servers(shape):
        pus = _pus(name, tier.mapping, source)
        if pus is not None:
            found[name] = one_each(pus, tier.mapping.vcpus)
    return found


def _pus(name: str, mapping: experiment.Mapping, source: str) -> tuple[int, ...] | None:
    if mapping.place is None:
        return mapping.pus
    tier = name.partition(".")[0]
    try:
        return pus_at(at_number(mapping.place, name), source)
    except UserError as error:
        raise UserError(f"system.{tier}.mapping.place: {error}") from None


def at_number(place: str, server: str) -> str:
    """A place with the server's number in its tier, from 0, for ``{n}``."""
    return place.replace("{n}", str(int(server.partition(".")[2]) - 1))


def servers(shape: experiment.System) -> Iterator[tuple[str, experiment.Tier]]:
    """Every server by its name, such as `db.1`, with the tier that it is of."""
    for name, tier in shape.tiers.items():
        for number in range(1, tier.count + 1):
            yield f"{name}.{number}", tier
