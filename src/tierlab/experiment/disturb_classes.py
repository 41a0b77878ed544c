"""The classes of disturbance, each with the keys that make up its intensity."""

from __future__ import annotations

import typing
from collections.abc import Mapping

from tierlab.experiment.disturb_clients import Burst, SlowClients
from tierlab.experiment.disturb_resources import (
    Cpu,
    Disk,
    Loss,
    Memory,
    Network,
    Quota,
    Steal,
    Weight,
)
from tierlab.experiment.disturb_servers import (
    Checkpoint,
    ColdCache,
    Collection,
    Freeze,
    Lock,
    Pool,
    Restart,
)
from tierlab.experiment.disturbance import Disturbance

Stated = (
    Memory
    | Cpu
    | Disk
    | Freeze
    | Collection
    | Lock
    | Pool
    | Burst
    | Network
    | Loss
    | Quota
    | Weight
    | Restart
    | Checkpoint
    | ColdCache
    | SlowClients
    | Steal
)
"""A disturbance of any class; they are told in this order everywhere."""

KINDS: Mapping[str, type[Disturbance]] = {
    typing.get_args(model.model_fields["class_"].annotation)[0]: model
    for model in typing.get_args(Stated)
}
"""The model of each class."""

CLASSES = tuple(KINDS)

ANYWHERE = tuple(name for name, model in KINDS.items() if not model.by_hypervisor)
"""Those that need no hypervisor of the trial's own."""
