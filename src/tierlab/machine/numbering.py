"""What other programs call this machine's PUs.

Linux may number the cores of two packages in turn where Xen numbers them package by package: the
same list of numbers is then one package to the one and two packages to the other. PUs are told
apart by where they are: package, then core, then their rank within the core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from tierlab.errors import UserError
from tierlab.machine.topology import Topology


@dataclass(frozen=True, order=True)
class Seat:
    """A PU as a platform tells of it; its ids are the platform's own."""

    package: int
    core: int
    pu: int


def of_xl(text: str) -> list[Seat]:
    """The PUs in `xl info --numa` (xl(1)): the table under `cpu_topology`, `cpu: core socket node`.

    UserError when there is no such table.
    """
    seats: list[Seat] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("cpu_topology"):
            break
    for line in lines:
        number, colon, rest = line.partition(":")
        if not number.strip().isdigit() or not colon:
            if seats:
                break
            continue
        core, package, *_ = (int(word) for word in rest.split())
        seats.append(Seat(package, core, int(number)))
    if not seats:
        raise UserError("xl info --numa told of no PU; run it in domain 0 as root.")
    return seats


def of_libvirt(capabilities: str) -> list[Seat]:
    """The PUs in libvirt's capabilities (libvirt.org, formatcaps: host/topology/cells)."""
    cpus = ElementTree.fromstring(capabilities).iterfind("./host/topology/cells/cell/cpus/cpu")
    seats = [
        Seat(int(cpu.get("socket_id", "0")), int(cpu.get("core_id", "0")), int(cpu.get("id", "0")))
        for cpu in cpus
    ]
    if not seats:
        raise UserError("libvirt tells of no PU; ask a connection that has a host behind it.")
    return seats


def of_topology(topology: Topology) -> list[Seat]:
    """The PUs by Linux' own numbers."""
    return [Seat(pu.package or 0, pu.core or 0, pu.pu) for pu in topology.pus]


def translation(here: Iterable[Seat], there: Iterable[Seat]) -> Mapping[int, int]:
    """Each PU's number there by its number here; UserError when the two are not one machine.

    Ids of packages and cores need not agree: only their order does.
    """
    ours, theirs = sorted(here), sorted(there)
    if _shape(ours) != _shape(theirs):
        raise UserError(
            f"the PUs by package are {_shape(ours)} to the one and {_shape(theirs)} to the other;"
            " give both the same machine, with the same PUs online."
        )
    return {one.pu: other.pu for one, other in zip(ours, theirs, strict=True)}


def _shape(seats: Iterable[Seat]) -> list[int]:
    counts = Counter(seat.package for seat in seats)
    return [counts[package] for package in sorted(counts)]
