"""Experiment files to typed, validated, frozen plans.

`load(path)` gives an `Experiment`; its `trials()` are `TrialPlan`s, each a combination of the
factors' levels. Durations are nanoseconds (`*_ns`), sizes bytes, shares 0..1.
"""

from tierlab.experiment.experiment import Experiment
from tierlab.experiment.file import load
from tierlab.experiment.load import Load, Phases, Timeouts
from tierlab.experiment.objective import Objective
from tierlab.experiment.observe import Observe
from tierlab.experiment.plan import SystemPlan, TrialPlan
from tierlab.experiment.system import System
from tierlab.experiment.tier import Mapping, Tier

__all__ = [
    "Experiment",
    "Load",
    "Mapping",
    "Objective",
    "Observe",
    "Phases",
    "System",
    "SystemPlan",
    "Tier",
    "Timeouts",
    "TrialPlan",
    "load",
]
