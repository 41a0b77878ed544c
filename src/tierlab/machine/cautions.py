"""What a mapping would do that its author may not have meant, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from tierlab.machine.mapping import Plan, Seats
from tierlab.machine.topology import Topology
from tierlab.machine.uniformity import TOLERANCE, static_dnu, time_slots


def cautions(plan: Plan, topology: Topology) -> list[str]:
    """One sentence for each: uneven shares, many packages, far memory, crowds, shared cores."""
    return [
        *_non_uniform(plan),
        *(said for name, seats in plan.items() for said in _spread(name, seats, topology)),
        *(said for name, seats in plan.items() for said in _far(name, seats, topology)),
        *(said for name, seats in plan.items() for said in _crowded(name, seats)),
        *_siblings(plan, topology),
    ]


def _non_uniform(plan: Plan) -> Iterator[str]:
    shares = time_slots(plan)
    for name, degree in static_dnu(plan).items():
        got = [share.share for share in shares[name]]
        if max(got) - min(got) > TOLERANCE * max(got):
            yield (
                f"{name}: non-uniform (DNU {degree:.2f}): under full load its vCPUs get from"
                f" {min(got):.0%} to {max(got):.0%} of a PU, so that the same work takes longer on"
                " one than on another; give each PU the same vCPUs and weights."
            )


def _spread(name: str, seats: Seats, topology: Topology) -> Iterator[str]:
    packages = {topology.by_number[pu].package for pu in seats.pus}
    if len(packages) > 1:
        yield (
            f"{name}: is on {len(packages)} packages, whose last-level caches are apart;"
            " one package avoids that."
        )


def _far(name: str, seats: Seats, topology: Topology) -> Iterator[str]:
    near = {topology.by_number[pu].node for pu in seats.pus} - {None}
    if seats.nodes is not None and near and not seats.nodes & near:
        yield (
            f"{name}: its memory is on NUMA node {_listed(seats.nodes)} and none of its PUs is;"
            f" node {_listed(near)} is near."
        )


def _crowded(name: str, seats: Seats) -> Iterator[str]:
    if len(seats.vcpus) > len(seats.pus):
        yield f"{name}: its {len(seats.vcpus)} vCPUs share {len(seats.pus)} PUs among themselves."


def _siblings(plan: Plan, topology: Topology) -> Iterator[str]:
    """Pairs of domains that share a core, on different PUs of it."""
    for (one, here), (other, there) in combinations(plan.items(), 2):
        for core in sorted(_cores(here, topology) & _cores(there, topology)):
            mine, theirs = (_on(core, seats, topology) for seats in (here, there))
            if not mine & theirs:
                yield (
                    f"{one} and {other}: share core {core} on different PUs of it; its execution"
                    " units are one, whatever the PUs' shares say."
                )


def _cores(seats: Seats, topology: Topology) -> set[int]:
    found = {topology.by_number[pu].core for pu in seats.pus}
    return {core for core in found if core is not None}


def _on(core: int, seats: Seats, topology: Topology) -> set[int]:
    return {pu for pu in seats.pus if topology.by_number[pu].core == core}


def _listed(numbers: Iterable[int | None]) -> str:
    return ", ".join(sorted(map(str, numbers)))
