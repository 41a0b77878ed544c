"""What simulated caches need of this machine and of the plan."""

from __future__ import annotations

from tierlab.environments.capability import Capability, Probe
from tierlab.environments.refusal import refuse
from tierlab.errors import UserError
from tierlab.experiment import TrialPlan
from tierlab.experiment.change import NEIGHBOURS
from tierlab.machine import caches

KEY = "observe.simulated_caches"


def check_caches(plan: TrialPlan, probe: Probe) -> None:
    """Raise :class:`UserError` where they cannot be simulated as the plan has it."""
    machine = plan.observe.simulated_caches
    if machine is None:
        return
    if (reason := probe.cannot.get(Capability.SIMULATED_CACHES)) is not None:
        raise refuse(KEY, probe.environment, Capability.SIMULATED_CACHES, reason)
    try:
        caches.read(machine)
    except UserError as error:
        raise UserError(f"{KEY}: {error}") from error
    for change in plan.change:
        # Which packages a guest is on is said to its emulation when that begins.
        placed = (change.host, change.place, change.pus)
        if change.on != NEIGHBOURS and any(place is not None for place in placed):
            raise UserError(
                f"{KEY}: {change.on} is placed anew while the trial runs, and its simulated caches"
                " cannot be; make the two placements two trials."
            )
