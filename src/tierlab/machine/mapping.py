"""A mapping: which PU each vCPU of each domain runs on, and where its memory lies.

PUs and NUMA nodes are the operating system's numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

USUAL_WEIGHT = 1024

Host = Literal["first", "second"]
HOSTS: tuple[Host, ...] = get_args(Host)
"""Between which domains move; all start on the first."""


@dataclass(frozen=True)
class Seats:
    """Where one domain sits."""

    vcpus: tuple[int, ...]
    """The PU of each of its vCPUs."""
    weight: int = USUAL_WEIGHT
    """The domain's share of contended CPU time, as against the other domains'."""
    nodes: frozenset[int] | None = None
    """NUMA nodes that its memory is on; None where that is left to the kernel."""

    @property
    def pus(self) -> frozenset[int]:
        """All PUs that any of its vCPUs runs on."""
        return frozenset(self.vcpus)


Plan = Mapping[str, Seats]
"""Every domain's seats by its name (`db.1`)."""


def in_turn(pus: Sequence[int], vcpus: int | None) -> tuple[int, ...]:
    """Give each of so many vCPUs one of the PUs in turn; as many vCPUs as PUs if not said."""
    count = len(pus) if vcpus is None else vcpus
    return tuple(pus[index % len(pus)] for index in range(count))
