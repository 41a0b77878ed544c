"""What do simulated caches show of where virtual CPUs are? The same virtual CPUs, on the cores of
one package and on those of two.

J. Park et al., "Variations in Performance Measurements of Multi-Core Processors: A Study of n-Tier
Applications" (2013), section III and figure 2(c).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tierlab.analysis.comparing.blocks import blocks
from tierlab.studies.cases import Case, Cases, Trial
from tierlab.studies.measured import CaseMeasure, Measured, missing

FACTOR = "observe.simulated_caches"
MISSES, INSTRUCTIONS = "LLC-misses", "instructions"
SIMULATED = "simulated"


def _counted(trial: Trial, event: str) -> float:
    found = [
        counts.sum()
        for key, counts in trial.blocks.counted.items()
        if (key.event, key.source) == (event, SIMULATED)
    ]
    return float(np.sum(found))


def misses(trials: Sequence[Trial]) -> float | None:
    """Misses for each instruction of all guests, those of all trials together; None where there
    were none, or none was counted.
    """
    of_all = [sum(_counted(trial, event) for trial in trials) for event in (MISSES, INSTRUCTIONS)]
    missed, instructions = of_all
    return missed / instructions if missed and instructions else None


def _packages(case: Case) -> int:
    """How many packages the machine has whose caches were simulated."""
    words = str(case.levels.get(FACTOR, "")).split()
    return next((int(word[5:]) for word in words if word.startswith("pack:")), 0)


def _more_misses(cases: Cases) -> Measured:
    by_packages = {_packages(case): case.trials for case in cases.cases}
    one, two = (misses(by_packages.get(count, ())) for count in (1, 2))
    if one is None or two is None:
        return missing("there are not trials on one package and on two that counted misses")
    return Measured(
        value=two / one,
        words=f"{two / one:.2f}: {two * 1e3:.3g} and {one * 1e3:.3g} of 1,000 instructions",
    )


MORE_MISSES = CaseMeasure(
    "last-level cache misses an instruction on two packages over those on one",
    (blocks,),
    _more_misses,
)
