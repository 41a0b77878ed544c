"""A mapping: which PUs each vCPU of each domain may run on, and where its memory lies.

PUs and NUMA nodes are the operating system's numbers; `numbering` translates them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tierlab.errors import UserError

USUAL_WEIGHT = 1024
VCpu = frozenset[int]
"""A virtual CPU is known by the PUs that it may run on."""


@dataclass(frozen=True)
class Seats:
    """Where one domain sits."""

    vcpus: tuple[VCpu, ...]
    weight: int = USUAL_WEIGHT
    """The domain's share of contended CPU time, as against the other domains'."""
    nodes: frozenset[int] | None = None
    """NUMA nodes that its memory is on; None where that is left to the kernel."""

    @property
    def pus(self) -> frozenset[int]:
        """All PUs that any of its vCPUs may run on."""
        return frozenset().union(*self.vcpus)


Plan = Mapping[str, Seats]
"""Every domain's seats by its name (`db.1`)."""


def one_each(pus: Sequence[int], vcpus: int | None) -> tuple[VCpu, ...]:
    """Give each of so many vCPUs one of the PUs in turn; as many vCPUs as PUs if not said."""
    if not pus:
        raise UserError("a domain has no PU to run on; give it at least one.")
    count = len(pus) if vcpus is None else vcpus
    return tuple(frozenset({pus[index % len(pus)]}) for index in range(count))
