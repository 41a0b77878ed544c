"""What a domain may use of its host: asked for, and read back."""

from __future__ import annotations

import resource
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from tierlab.machine.mapping import USUAL_WEIGHT

WEIGHT_STEP = USUAL_WEIGHT / 100
PAGE = resource.getpagesize()


@dataclass(frozen=True)
class Placement:
    """What a domain may use. None means that nothing was asked (or, read back, not limited)."""

    pus: frozenset[int] | None = None
    """Processing units, by the operating system's numbers."""
    weight: int | None = None
    """Share of the CPU under contention, in proportion to the other domains'; 1024 is the usual."""
    memory: int | None = None
    """Bytes."""
    disk_writes: int | None = None
    """Bytes a second to the disk that its folder lies on."""
    disk_reads: int | None = None
    """Read operations a second from that disk."""
    nodes: frozenset[int] | None = None
    """NUMA nodes that its memory is on, by the operating system's numbers."""
    host: str | None = None
    """The host that it runs on, where an environment has several."""

    def changed(self, other: Placement) -> Placement:
        """This placement with all that `other` asks for."""
        given = {f.name: v for f in fields(other) if (v := getattr(other, f.name)) is not None}
        return replace(self, **given)

    def without(self, parts: Iterable[str]) -> Placement:
        """This placement with nothing asked of these parts (names of its fields)."""
        return replace(self, **dict.fromkeys(parts))

    def difference(self, found: Placement) -> str | None:
        """Say in words where `found` is not what was asked here; None if it is.

        The kernel keeps memory limits in whole pages and, in version 2 of the control groups,
        weights in steps of 1 % of the usual; what is lost in rounding is no difference.
        """
        if self.host is not None and self.host != found.host:
            return f"host {self.host} asked, {found.host} found"
        sets = {"PUs": (self.pus, found.pus), "memory nodes": (self.nodes, found.nodes)}
        for what, (asked, got) in sets.items():
            if asked is not None and asked != got:
                return f"{what} {listed(asked)} asked, {listed(got)} found"
        if self.weight is not None and (
            found.weight is None or abs(self.weight - found.weight) > WEIGHT_STEP / 2
        ):
            return f"weight {self.weight} asked, {found.weight} found"
        if self.memory is not None and (
            found.memory is None or abs(self.memory - found.memory) >= PAGE
        ):
            return f"memory limit {self.memory} bytes asked, {found.memory} found"
        for what in ("disk_writes", "disk_reads"):
            asked, got = getattr(self, what), getattr(found, what)
            if asked is not None and asked != got:
                return f"{what.replace('_', ' ')} {asked} a second asked, {got} found"
        return None


def listed(numbers: frozenset[int] | None) -> str:
    """Show a set of PUs or nodes as the kernel writes it, such as ``0,2,3``."""
    return "no limit" if numbers is None else ",".join(map(str, sorted(numbers))) or "none"
