"""What a mapping would do that its author may not have meant, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tierlab.machine.mapping import Plan, Seats
from tierlab.machine.topology import Topology
from tierlab.machine.uniformity import TOLERANCE, static_dnu, time_slots


def cautions(plan: Plan, topology: Topology) -> list[str]:
    """One sentence for each: non-uniform shares, many packages, far memory, shared cores."""
    return [
        *_non_uniform(plan),
        *(said for name, seats in plan.items() for said in _spread(name, seats, topology)),
        *(said for name, seats in plan.items() for said in _far(name, seats, topology)),
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
    if len(packages) > 1 and seats.pus != frozenset(topology.by_number):
        yield (
            f"{name}: is on {len(packages)} packages, whose last-level caches are apart;"
            " one package avoids that."
        )


def _far(name: str, seats: Seats, topology: Topology) -> Iterator[str]:
    near = {topology.by_number[pu].node for pu in seats.pus}
    if seats.nodes is not None and not seats.nodes & near:
        yield (
            f"{name}: its memory is on NUMA node {', '.join(map(str, sorted(seats.nodes)))} and"
            f" none of its PUs is; node {', '.join(str(node) for node in near)} is near."
        )


def _siblings(plan: Plan, topology: Topology) -> Iterator[str]:
    """Domains that share a core without sharing a PU."""
    pinned = {name: seats.pus for name, seats in plan.items() if len(seats.pus) < len(topology.pus)}
    threads = Counter(pu.core for pu in topology.pus)
    users: dict[int, set[str]] = {}
    for name, pus in pinned.items():
        for pu in pus:
            core = topology.by_number[pu].core
            if core is not None and threads[core] > 1:
                users.setdefault(core, set()).add(name)
    for core, names in sorted(users.items()):
        apart = [pinned[name] for name in names]
        if len(names) > 1 and not frozenset.intersection(*apart):
            yield (
                f"{' and '.join(sorted(names))}: share core {core} on different PUs of it; its"
                " execution units are one, whatever the PUs' shares say."
            )
