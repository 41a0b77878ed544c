"""Mappings that have a name, as the studies of placement compare them.

`one-package` and `two-packages` are those whose difference a study of consolidation found (22 % of
the throughput, by misses in the last-level cache); `one-l3` is the first one's point on machines
whose packages have several such caches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest

from tierlab.errors import UserError
from tierlab.machine.mapping import VCpu
from tierlab.machine.topology import PU, Topology

VCpus = Mapping[str, int]
"""How many vCPUs each domain has, in the order in which they are seated."""
Seating = Mapping[str, tuple[VCpu, ...]]


def seat(name: str, topology: Topology, vcpus: VCpus) -> Seating:
    """Seat all domains as the named mapping says; UserError where the machine is too small."""
    if name not in NAMED:
        raise UserError(f"'{name}' is no mapping that has a name: there are {', '.join(NAMED)}.")
    return NAMED[name](topology, vcpus)


def one_package(topology: Topology, vcpus: VCpus) -> Seating:
    """All domains on the first package, a core for each vCPU while they last."""
    return _in_turn(_cores_first(_of(topology, package=0)), vcpus)


def two_packages(topology: Topology, vcpus: VCpus) -> Seating:
    """Each domain's vCPUs in turn on the first and the second package."""
    if len(topology.packages) < 2:
        raise UserError("mapping two-packages: this machine has one package; use one-package.")
    first, second = (_cores_first(_of(topology, package=package)) for package in (0, 1))
    return _in_turn(_alternating(first, second), vcpus)


def one_l3(topology: Topology, vcpus: VCpus) -> Seating:
    """All domains below the first level-3 cache."""
    near = [pu for pu in topology.pus if pu.l3 is not None and pu.l3 == topology.pus[0].l3]
    if not near:
        raise UserError("mapping one-l3: this machine shows no level-3 cache; use one-package.")
    return _in_turn(_cores_first(near), vcpus)


def own_cores(topology: Topology, vcpus: VCpus) -> Seating:
    """A core for every vCPU that no other has, not even its second PU."""
    cores = _first_of_cores(topology.pus)
    wanted = sum(vcpus.values())
    if wanted > len(cores):
        raise UserError(
            f"mapping own-cores: {wanted} vCPUs need {wanted} cores and this machine has"
            f" {len(cores)}; ask for fewer vCPUs."
        )
    return _in_turn(cores, vcpus)


def one_apart(topology: Topology, vcpus: VCpus) -> Seating:
    """The last domain on cores of its own, all the others together on the cores that remain."""
    cores = _first_of_cores(topology.pus)
    *others, apart = vcpus
    kept = len(cores) - vcpus[apart]
    if kept < 1:
        raise UserError(
            f"mapping one-apart: {apart} asks for {vcpus[apart]} of {len(cores)} cores and leaves"
            " none for the others; ask for fewer vCPUs."
        )
    shared = {name: _ring(cores[:kept], vcpus[name]) for name in others}
    return shared | {apart: _ring(cores[kept:], vcpus[apart])}


NAMED: Mapping[str, Callable[[Topology, VCpus], Seating]] = {
    "one-package": one_package,
    "two-packages": two_packages,
    "one-l3": one_l3,
    "own-cores": own_cores,
    "one-apart": one_apart,
}


def _of(topology: Topology, package: int) -> list[PU]:
    return [pu for pu in topology.pus if pu.package in (package, None)]


def _cores_first(pus: Sequence[PU]) -> list[int]:
    """One PU of every core, then the second of each, and so on."""
    by_core: dict[int | None, list[int]] = {}
    for pu in pus:
        by_core.setdefault(pu.core, []).append(pu.pu)
    return [pu for pu in chain(*zip_longest(*by_core.values())) if pu is not None]


def _first_of_cores(pus: Sequence[PU]) -> list[int]:
    return _cores_first(pus)[: len({pu.core for pu in pus})]


def _alternating(first: Sequence[int], second: Sequence[int]) -> list[int]:
    return [pu for pu in chain(*zip_longest(first, second)) if pu is not None]


def _in_turn(pus: Sequence[int], vcpus: VCpus) -> Seating:
    """Hand out the PUs one after the other over all domains, from the start again when done."""
    seating, taken = {}, 0
    for name, count in vcpus.items():
        seats = range(taken, taken + count)
        seating[name] = tuple(frozenset({pus[index % len(pus)]}) for index in seats)
        taken += count
    return seating


def _ring(pus: Sequence[int], count: int) -> tuple[VCpu, ...]:
    return _in_turn(pus, {"": count})[""]
