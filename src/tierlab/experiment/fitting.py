"""What a disturbance needs its server to be held to, for the whole trial.

A memory that is never full cannot thrash, and a disk that is faster than any neighbour cannot be
used up. Where the file says nothing, the tier gets limits with which an undisturbed trial goes on
as before; in the manifest they look like any others.
"""

from __future__ import annotations

from collections.abc import Sequence

from tierlab.experiment.disturb_classes import Checkpoint, ColdCache, Disk, Memory
from tierlab.experiment.draw import Drawn
from tierlab.experiment.system import System
from tierlab.experiment.tier import Tier
from tierlab.values.quantities import MIB

READS = 1000
"""A second: a page then takes a millisecond on the fastest disk too."""

WRITES = 32 * MIB
"""A second: twenty times what the database writes under 1,500 users."""


def fitted(system: System, drawn: Sequence[Drawn]) -> System:
    """The system with the limits that these disturbances need and the file does not give."""
    tiers = dict(system.tiers)
    for each in drawn:
        name = each.what.on.partition(".")[0]
        tiers[name] = _fitted(
            tiers[name],
            memory=isinstance(each.what, Memory),
            reads=isinstance(each.what, Memory | ColdCache),
            writes=isinstance(each.what, Disk | Checkpoint),
        )
    return system.model_copy(update=tiers)


def _fitted(tier: Tier, *, memory: bool, reads: bool, writes: bool) -> Tier:
    limits = tier.disk
    if reads and limits.reads is None:
        limits = limits.model_copy(update={"reads": READS})
    if writes and limits.writes is None:
        limits = limits.model_copy(update={"writes": WRITES})
    size = tier.software.room(tier.settings) if memory and tier.memory is None else tier.memory
    return tier.model_copy(update={"memory": size, "disk": limits})
