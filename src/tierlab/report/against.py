"""Another run, whose profile the page holds a run's against."""

from __future__ import annotations

from dataclasses import dataclass

from tierlab.analysis.observed import Observed
from tierlab.analysis.profiled import profiled
from tierlab.analysis.resources.profile import TOP
from tierlab.analysis.resources.profile_difference import ProfileDifference, profile_differences
from tierlab.report.profile import trial_name


@dataclass(frozen=True)
class Against:
    """The other run, and the functions that differ, event by event."""

    name: str
    events: list[ProfileDifference]


def compared(observed: Observed, other: Observed) -> Against:
    """Hold a run against an ``other``, the earlier one. Raises :class:`UserError` where one of the
    two has no profile, or they have no event in common.
    """
    events = profile_differences(profiled(other), profiled(observed), TOP)
    return Against(trial_name(other.run.path), events)
