"""The shape of a machine in hwloc's words: packages, NUMA nodes, L3 caches, cores, PUs.

From hwloc, so that this machine, a saved one and a made-up one are the same to the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from xml.etree.ElementTree import Element

from tierlab.machine.hwloc import HOST, export

CACHES = {
    "L1Cache": "L1d",
    "L1iCache": "L1i",
    "L2Cache": "L2",
    "L3Cache": "L3",
    "L4Cache": "L4",
}
"""hwloc's kinds of cache, by the names that Linux' tools use."""


@dataclass(frozen=True)
class PU:
    """A processing unit and where it is; None where the machine does not say."""

    pu: int
    """By the operating system's numbers."""
    core: int | None
    """Rank in hwloc's order over the whole machine, as in `core:2`; so is `package`."""
    package: int | None
    l3: int | None
    """Lowest PU that shares its level-3 cache."""
    node: int | None
    """NUMA node by the operating system's numbers."""


@dataclass(frozen=True)
class Cache:
    """A kind of cache: `L2`, its size in bytes and how many there are of that size."""

    name: str
    size: int | None
    instances: int


@dataclass(frozen=True)
class Topology:
    """A machine. `pus` are in hwloc's order, the nearest neighbours beside one another."""

    pus: tuple[PU, ...]
    caches: tuple[Cache, ...]
    nodes: Mapping[int, int]
    """Bytes of memory by NUMA node."""

    @cached_property
    def by_number(self) -> Mapping[int, PU]:
        """The PUs by the operating system's numbers."""
        return {pu.pu: pu for pu in self.pus}

    @property
    def packages(self) -> tuple[int, ...]:
        """Ranks of the packages."""
        return tuple(sorted({pu.package for pu in self.pus if pu.package is not None}))

    def cores_first(self, pus: Iterable[int]) -> list[int]:
        """Order PUs so that one of every core comes before the second of any."""
        wanted = frozenset(pus)
        by_core: dict[tuple[str, int], list[int]] = {}
        for pu in self.pus:
            if pu.pu in wanted:
                place = ("pu", pu.pu) if pu.core is None else ("core", pu.core)
                by_core.setdefault(place, []).append(pu.pu)
        return [pu for pu in chain(*zip_longest(*by_core.values())) if pu is not None]

    def cores(self, pus: Iterable[int]) -> list[int]:
        """One PU of every core of these."""
        ordered = self.cores_first(pus)
        places = {self.by_number[pu].core for pu in ordered}
        return ordered if None in places else ordered[: len(places)]


def read(source: str = HOST) -> Topology:
    """Read a machine from hwloc; UserError where hwloc cannot."""
    root = export(source)
    nodes = {
        int(node.get("os_index", "0")): int(node.get("local_memory", "0"))
        for node in _kind(root, "NUMANode")
    }
    return Topology(tuple(_pus(root)), tuple(_caches(root)), dict(sorted(nodes.items())))


def _pus(root: Element) -> Iterator[PU]:
    cores = _ranks(root, "Core")
    packages = _ranks(root, "Package")
    l3 = {pu: min(shared) for _, shared in _places(root, "L3Cache") for pu in shared}
    # Of several nodes the nearest to a PU is the one that fewest PUs are near to.
    widest_first = sorted(_places(root, "NUMANode"), key=lambda node: (-len(node[1]), -node[0]))
    nodes = {pu: number for number, near in widest_first for pu in near}
    for found in _kind(root, "PU"):
        pu = int(found.get("os_index", "-1"))
        yield PU(pu, cores.get(pu), packages.get(pu), l3.get(pu), nodes.get(pu))


def _ranks(root: Element, kind: str) -> dict[int, int]:
    """Each PU's place of a kind, by its rank."""
    places = enumerate(_places(root, kind))
    return {pu: rank for rank, (_, inside) in places for pu in inside}


def _places(root: Element, kind: str) -> list[tuple[int, tuple[int, ...]]]:
    """Every object of a kind: its own number and the PUs in it, in hwloc's order."""
    return [
        (int(found.get("os_index", "-1")), _bits(found.get("cpuset", "0x0")))
        for found in _kind(root, kind)
    ]


def _kind(root: Element, kind: str) -> Iterator[Element]:
    return (found for found in root.iter("object") if found.get("type") == kind)


def _bits(mask: str) -> tuple[int, ...]:
    """hwloc's bitmap, `0x00000001,0x0000000f` with 32 bits in each part, as numbers."""
    value = 0
    for part in mask.split(","):
        value = value << 32 | int(part or "0", 16)
    return tuple(bit for bit in range(value.bit_length()) if value >> bit & 1)


def _caches(root: Element) -> Iterator[Cache]:
    found = Counter(
        (name, int(cache.get("cache_size", "0")))
        for kind, name in CACHES.items()
        for cache in _kind(root, kind)
    )
    for (name, size), instances in sorted(found.items()):
        yield Cache(name, size or None, instances)
