"""Mappings that have a name, as the studies of placement compare them.

`one-package` and `two-packages` are those whose difference a study of consolidation found (22 % of
the throughput, by misses in the last-level cache); `one-l3` is the first one's point on machines
whose packages have several such caches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest

from tierlab.errors import UserError
from tierlab.machine.topology import Topology

VCpus = Mapping[str, int]
"""How many vCPUs each domain has, in the order in which they are seated."""
Seating = Mapping[str, tuple[int, ...]]
"""The PU of each vCPU, by domain."""


def seat(name: str, topology: Topology, vcpus: VCpus) -> Seating:
    """Seat all domains as the named mapping says; UserError where the machine is too small."""
    if name not in NAMED:
        raise UserError(f"'{name}' is no mapping that has a name: there are {', '.join(NAMED)}.")
    return NAMED[name](topology, vcpus)


def one_package(topology: Topology, vcpus: VCpus) -> Seating:
    """All domains on the first package, a core for each vCPU while they last."""
    return _dealt(topology.cores_first(_of(topology, package=0)), vcpus)


def two_packages(topology: Topology, vcpus: VCpus) -> Seating:
    """vCPUs in turn on the first and the second package."""
    if len(topology.packages) < 2:
        raise UserError("mapping two-packages: this machine has one package; use one-package.")
    first, second = (topology.cores_first(_of(topology, package)) for package in (0, 1))
    alternating = chain(*zip_longest(first, second))
    return _dealt([pu for pu in alternating if pu is not None], vcpus)


def one_l3(topology: Topology, vcpus: VCpus) -> Seating:
    """All domains below the first level-3 cache."""
    first = next((pu.l3 for pu in topology.pus if pu.l3 is not None), None)
    if first is None:
        raise UserError("mapping one-l3: this machine shows no level-3 cache; use one-package.")
    near = [pu.pu for pu in topology.pus if pu.l3 == first]
    return _dealt(topology.cores_first(near), vcpus)


def own_cores(topology: Topology, vcpus: VCpus) -> Seating:
    """A core for every vCPU that no other has, not even its second PU."""
    cores = topology.cores(topology.by_number)
    wanted = sum(vcpus.values())
    if wanted > len(cores):
        raise UserError(
            f"mapping own-cores: {wanted} vCPUs need {wanted} cores and this machine has"
            f" {len(cores)}; ask for fewer vCPUs."
        )
    return _dealt(cores, vcpus)


def one_apart(topology: Topology, vcpus: VCpus) -> Seating:
    """The last domain on cores of its own, all the others in turn on the cores that remain."""
    cores = topology.cores(topology.by_number)
    *others, apart = vcpus
    kept = len(cores) - vcpus[apart]
    if kept < 1:
        raise UserError(
            f"mapping one-apart: {apart} asks for {vcpus[apart]} of {len(cores)} cores and leaves"
            " none for the others; ask for fewer vCPUs."
        )
    shared = _dealt(cores[:kept], {name: vcpus[name] for name in others})
    return {**shared, apart: tuple(cores[kept:])}


NAMED: Mapping[str, Callable[[Topology, VCpus], Seating]] = {
    "one-package": one_package,
    "two-packages": two_packages,
    "one-l3": one_l3,
    "own-cores": own_cores,
    "one-apart": one_apart,
}


def _of(topology: Topology, package: int) -> list[int]:
    return [pu.pu for pu in topology.pus if pu.package in (package, None)]


def _dealt(pus: Sequence[int], vcpus: VCpus) -> Seating:
    """Hand out the PUs one after the other over all domains, from the start again when done."""
    seating, taken = {}, 0
    for name, count in vcpus.items():
        seating[name] = tuple(pus[index % len(pus)] for index in range(taken, taken + count))
        taken += count
    return seating
