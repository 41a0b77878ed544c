"""From an experiment's `[system]` to a mapping: which PUs each server has on a given machine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from tierlab import experiment
from tierlab.errors import UserError
from tierlab.machine import topology
from tierlab.machine.hwloc import HOST, pus_at
from tierlab.machine.mapping import USUAL_WEIGHT, Plan, Seats, in_turn
from tierlab.machine.named_mappings import seat


def plan(shape: experiment.System, source: str = HOST) -> Plan:
    """Seat the servers that are placed on the machine of `source`, and the neighbours; the other
    servers are not in it.

    UserError that names the key when a PU, a place or a node is not on that machine.
    """
    found = {}
    seated = asked_pus(shape, source)
    for name, tier in servers(shape):
        if name not in seated:
            continue
        machine = topology.read(source)
        node = tier.mapping.memory_node
        key = f"system.{name.partition('.')[0]}.mapping"
        _check_there(f"{key}.pus", "PU", seated[name], machine.by_number, source)
        _check_there(f"{key}.memory_node", "NUMA node", [] if node is None else [node],
                     machine.nodes, source)  # fmt: skip
        found[name] = Seats(
            seated[name],
            tier.mapping.weight or USUAL_WEIGHT,
            None if node is None else frozenset({node}),
        )
    return found | neighbour_seats(shape, source)


def neighbour_seats(shape: experiment.System, source: str = HOST) -> dict[str, Seats]:
    """The seats of each neighbour by its name, such as `neighbour.1`."""
    asked = shape.neighbours
    if not asked.count:
        return {}
    machine = topology.read(source)
    try:
        pus = machine.by_number if asked.place is None else pus_at(asked.place, source)
    except UserError as error:
        raise UserError(f"system.neighbours.place: {error}") from None
    seats = Seats(in_turn(machine.cores_first(pus), asked.vcpus), asked.weight)
    return {f"neighbour.{number}": seats for number in range(1, asked.count + 1)}


def _check_there(
    key: str, kind: str, asked: Iterable[int], there: Collection[int], source: str
) -> None:
    for number in asked:
        if number not in there:
            raise UserError(
                f"{key}: machine '{source}' has no {kind} {number}; choose among"
                f" {', '.join(map(str, sorted(there)))}."
            )


def asked_pus(shape: experiment.System, source: str = HOST) -> dict[str, tuple[int, ...]]:
    """The PUs of the servers for which the experiment asks for some, one for each vCPU."""
    if shape.mapping is not None:
        vcpus = {name: tier.mapping.vcpus or 1 for name, tier in servers(shape)}
        try:
            return dict(seat(shape.mapping, topology.read(source), vcpus))
        except UserError as error:
            raise UserError(f"system.mapping: {error}") from None
    found = {}
    for name, tier in servers(shape):
        pus = _pus(name, tier.mapping, shape.place, source)
        if pus is not None:
            found[name] = in_turn(pus, tier.mapping.vcpus)
    return found


def _pus(
    name: str, mapping: experiment.Mapping, of_all: str | None, source: str
) -> Sequence[int] | None:
    """In the order in which vCPUs take them: a core each while they last."""
    if mapping.pus is not None:
        return mapping.pus
    place, key = mapping.place, f"system.{name.partition('.')[0]}.mapping.place"
    if place is None:
        place, key = of_all, "system.place"
    if place is None:
        return None
    try:
        found = pus_at(at_number(place, name), source)
    except UserError as error:
        raise UserError(f"{key}: {error}") from None
    return topology.read(source).cores_first(found)


def at_number(place: str, server: str) -> str:
    """A place with the server's number in its tier, from 0, for ``{n}``."""
    return place.replace("{n}", str(int(server.partition(".")[2]) - 1))


def servers(shape: experiment.System) -> Iterator[tuple[str, experiment.Tier]]:
    """Every server by its name, such as `db.1`, with the tier that it is of."""
    for name, tier in shape.tiers.items():
        for number in range(1, tier.count + 1):
            yield f"{name}.{number}", tier
