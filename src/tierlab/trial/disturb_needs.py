"""Which classes of disturbance an environment can have on this host."""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.environments.capability import Capability, Probe
from tierlab.errors import UserError
from tierlab.experiment import TrialPlan
from tierlab.experiment.disturb_classes import CLASSES, KINDS

NEEDED: Mapping[str, tuple[Capability, ...]] = {
    # What does not fit is read again, and reads have to be slow.
    "memory": (Capability.MEMORY, Capability.DISK),
    "disk": (Capability.DISK,),
    "checkpoint": (Capability.DISK,),
    "cold_cache": (Capability.DISK,),
    "network": (Capability.NETWORK,),
    "loss": (Capability.NETWORK,),
    "quota": (Capability.WEIGHT,),
    "weight": (Capability.WEIGHT,),
    "steal": (Capability.STEAL,),
}
"""What a class needs of the environment besides reaching into domains."""


def possible_classes(probe: Probe) -> tuple[str, ...]:
    """Those that can be had here."""
    return tuple(kind for kind in CLASSES if _obstacle(kind, probe) is None)


def _obstacle(kind: str, probe: Probe) -> str | None:
    """Why a class cannot be had here; None if it can."""
    model = KINDS[kind]
    wanted = [] if model.from_outside or model.by_hypervisor else [Capability.PROCESSES]
    wanted.extend(NEEDED.get(kind, ()))
    return next((probe.cannot[each] for each in wanted if each in probe.cannot), None)


def check_disturbances(plan: TrialPlan, probe: Probe) -> None:
    """Raise `UserError` for the first disturbance that cannot be had here."""
    for drawn in plan.disturb:
        what = drawn.what
        if (reason := _obstacle(what.class_, probe)) is not None:
            raise UserError(
                f"disturb: {what.class_} on {what.on} cannot be had here, because {reason}; choose"
                f" among the classes {', '.join(possible_classes(probe))}."
            )
