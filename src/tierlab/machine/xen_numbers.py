"""A machine by Xen's own numbers of its PUs, as hwloc can read it.

Linux may number the cores of two packages in turn where Xen numbers them package by package: the
same list of numbers is then one package to the one and two packages to the other. Domain 0 sees
only its own virtual CPUs, so the machine is taken from Xen's table, and hwloc's words are looked up
on that: no number of Linux's ever reaches Xen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tierlab.errors import UserError

TABLE = "cpu_topology"


@dataclass(frozen=True, order=True)
class Row:
    """A PU as Xen tells of it; `core` is numbered anew in each package."""

    package: int
    core: int
    pu: int
    node: int


def described(told: str) -> str:
    """The machine in ``xl info --numa`` (xl(1)) as a synthetic description of hwloc(7).

    `UserError` for no machine, and for one whose packages are not alike: hwloc has no short
    description of it.
    """
    rows = sorted(_rows(told))
    packages = {row.package for row in rows}
    cores = {(row.package, row.core) for row in rows}
    nodes = list(dict.fromkeys(row.node for row in rows))
    if not rows or len(cores) % len(packages) or len(rows) % len(cores):
        raise UserError("xl info --numa: tells of no machine whose packages are alike.")
    levels = [
        _level("pack", len(packages)),
        _level("core", len(cores) // len(packages)),
        _level("pu", len(rows) // len(cores), [row.pu for row in rows]),
    ]
    if len(nodes) == len(packages):
        levels.insert(1, _level("numa", 1, nodes))
    elif len(nodes) == 1:
        levels.insert(0, _level("numa", 1, nodes))
    else:
        raise UserError("xl info --numa: tells of memory nodes that are neither one nor packages.")
    return " ".join(levels)


def _level(kind: str, count: int, numbers: list[int] | None = None) -> str:
    indexes = "" if numbers is None else f"(indexes={','.join(map(str, numbers))})"
    return f"{kind}:{count}{indexes}"


def _rows(told: str) -> Iterator[Row]:
    """The table's lines: ``cpu: core socket node``."""
    inside = False
    for line in told.splitlines():
        number, colon, rest = line.partition(":")
        if number.strip() == TABLE:
            inside = True
        elif inside and colon and number.strip().isdigit():
            core, package, node = (int(word) for word in rest.split())
            yield Row(package, core, int(number), node)
        elif inside and number.strip() != "cpu":
            return
