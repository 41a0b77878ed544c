"""How unevenly a trial's mapping shares the PUs out, from its start and after each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tierlab import experiment
from tierlab.deploy.layout import full_name
from tierlab.deploy.mapping import neighbour_seats, plan
from tierlab.deploy.placement import changed_placement
from tierlab.experiment.change import NEIGHBOURS, Change
from tierlab.machine.mapping import Plan, Seats, in_turn
from tierlab.machine.uniformity import static_dnu


def degrees(
    shapes: Mapping[str, experiment.System], changes: Sequence[Change], machine: str
) -> dict[str, list[tuple[int, float]]]:
    """The DNU of each server that is placed on a machine (a source of hwloc's), as (nanoseconds
    from the start of the runtime, DNU) pairs in order: the first at 0, one more wherever a change
    makes it another. `shapes` are the systems by name, the only one's empty.
    """
    seated: Plan = {}
    neighbours: Plan = {}
    for system, shape in shapes.items():
        own = plan(shape, machine)
        seated = {**seated, **{full_name(system, name): own[name] for name in own}}
        neighbours = {**neighbours, **neighbour_seats(shape, machine)}
    found = {name: [(0, dnu)] for name, dnu in static_dnu(seated).items() if name not in neighbours}
    for change in changes:
        seated = _changed(seated, neighbours, change, machine)
        now = static_dnu(seated)
        for name, before in found.items():
            if now[name] != before[-1][1]:
                before.append((change.at_ns, now[name]))
    return found


def _changed(seated: Plan, neighbours: Plan, change: Change, machine: str) -> Plan:
    if change.on == NEIGHBOURS:
        return {**seated, **{name: _busy(each, change.vcpus) for name, each in neighbours.items()}}
    if change.on not in seated:
        return seated
    seats, asked = seated[change.on], changed_placement(change, machine)
    if asked.pus is not None:
        seats = replace(seats, vcpus=in_turn(sorted(asked.pus), len(seats.vcpus)))
    if asked.weight is not None:
        seats = replace(seats, weight=asked.weight)
    return {**seated, change.on: seats}


def _busy(seats: Seats, vcpus: int | None) -> Seats:
    """The seats of those vCPUs that want to run."""
    return replace(seats, vcpus=seats.vcpus[:vcpus])
