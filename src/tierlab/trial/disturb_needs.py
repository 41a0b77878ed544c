"""Which classes of disturbance an environment can have on this host."""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.environments.base import Capability, Probe
from tierlab.errors import UserError
from tierlab.experiment import TrialPlan
from tierlab.experiment.disturb import CLASSES

NEEDED: Mapping[str, Capability] = {
    "memory": Capability.MEMORY,
    "disk": Capability.DISK,
    "network": Capability.NETWORK,
}
"""What a class needs of the environment; the others need none of it."""


def possible_classes(probe: Probe) -> tuple[str, ...]:
    """Those that can be had here."""
    return tuple(kind for kind in CLASSES if NEEDED.get(kind) not in probe.cannot)


def check_disturbances(plan: TrialPlan, probe: Probe) -> None:
    """Raise `UserError` for the first disturbance that cannot be had here."""
    for drawn in plan.disturb:
        what = drawn.what
        needed = NEEDED.get(what.class_)
        if needed is not None and (reason := probe.cannot.get(needed)):
            raise UserError(
                f"disturb: {what.class_} on {what.on} cannot be had here, because {reason}; choose"
                f" among the classes {', '.join(possible_classes(probe))}."
            )
