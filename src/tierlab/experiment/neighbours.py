"""`[system.neighbours]`: other domains on the same machine, whose virtual CPUs are always busy."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tierlab.experiment.place import PLACE
from tierlab.values.kinds import Whole
from tierlab.values.section import Section


class Neighbours(Section):
    """Other domains beside the system, which compute all the time and share its PUs. In Xen each is
    a domain of Xen's, elsewhere a control group of processes, one for each virtual CPU."""

    count: Annotated[int, Whole(0, 64)] = 0
    """How many."""

    vcpus: Annotated[int, Whole(1, 4096)] = 1
    """How many virtual CPUs each has; one after the other is bound to a PU of the place."""

    place: Annotated[str | None, PLACE] = Field(default=None, examples=["pu:0-1"])
    """Their PUs by where they are, in hwloc's words; without it, all."""

    weight: Annotated[int, Whole(16, 100_000)] = 1024
    """Each one's share of contended CPU time relative to the tiers; 1024 is the usual."""
