"""What a disturbance needs its server to be held to, for the whole trial.

A memory that is never full cannot thrash, and a disk that is faster than any neighbour cannot be
used up. Where the file says nothing, the tier gets limits with which an undisturbed trial goes on
as before; in the manifest they look like any others.
"""

from __future__ import annotations

from collections.abc import Sequence

from tierlab.experiment.disturb_resources import Disk, Memory
from tierlab.experiment.disturb_servers import Checkpoint, ColdCache
from tierlab.experiment.disturbance import Disturbance
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
    tiers = {
        name: _fitted(tier, [each.what for each in drawn if each.what.on.startswith(f"{name}.")])
        for name, tier in system.tiers.items()
    }
    return system.model_copy(update=tiers)


def _fitted(tier: Tier, what: Sequence[Disturbance]) -> Tier:
    memory = any(isinstance(each, Memory) for each in what)
    reads = any(isinstance(each, Memory | ColdCache) for each in what)
    limits = tier.disk
    if reads and limits.reads is None:
        limits = limits.model_copy(update={"reads": READS})
    if limits.writes is None and any(isinstance(each, Disk | Checkpoint) for each in what):
        limits = limits.model_copy(update={"writes": WRITES})
    size = tier.software.room(tier.settings) if memory and tier.memory is None else tier.memory
    return tier.model_copy(update={"memory": size, "disk": limits})
