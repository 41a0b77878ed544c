"""What does one core more bring a system that uses up those that it has?

J. Park et al., "Variations in Performance Measurements of Multi-Core Processors: A Study of n-Tier
Applications" (2013), section IV.A, figures 4(a) and 4(b).
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from tierlab.analysis.comparing.blocks import blocks
from tierlab.analysis.resources.resources import resources
from tierlab.studies.cases import Case, Cases, Trial
from tierlab.studies.measured import CaseMeasure, Measured, missing


def _throughput(trial: Trial) -> float | None:
    return trial.throughput


def _busy(trial: Trial) -> float | None:
    """Mean utilisation of the PUs that the servers may run on."""
    if not trial.pus or not trial.pus <= trial.busy.keys():
        return None
    return fmean(trial.busy[pu] for pu in trial.pus)


def _by_pus(cases: Cases, figure: Callable[[Trial], float | None]) -> dict[int, float]:
    """The figure by how many PUs the servers may run on, where both are known."""
    found = {}
    for case in cases.cases:
        pus, value = _pus(case), case.mean([figure(trial) for trial in case.trials])
        if pus is not None and value is not None:
            found[pus] = value
    return found


def _pus(case: Case) -> int | None:
    counts = {None if trial.pus is None else len(trial.pus) for trial in case.trials}
    return counts.pop() if len(counts) == 1 else None


def _more(cases: Cases) -> Measured:
    found = _by_pus(cases, _throughput)
    more = {pus: found[pus] / found[pus - 1] for pus in found if pus - 1 in found}
    if not more:
        return missing("there are not trials on so many PUs and on one more")
    words = "; ".join(
        f"{ratio:.2f}: {found[pus]:.0f}/s ({pus} PUs) and {found[pus - 1]:.0f}/s ({pus - 1})"
        for pus, ratio in sorted(more.items())
    )
    return Measured(value=min(more.values()), words=words)


def _least_busy(cases: Cases) -> Measured:
    found = _by_pus(cases, _busy)
    if not found:
        return missing("the servers' PUs or their utilisation were not measured")
    words = "; ".join(f"{busy:.2f} of {pus}" for pus, busy in sorted(found.items()))
    return Measured(value=min(found.values()), words=f"{words} PUs")


THROUGHPUT_OF_ONE_MORE = CaseMeasure(
    "throughput on one PU more over that without it, the least of all numbers of PUs",
    (blocks,),
    _more,
)
LEAST_BUSY = CaseMeasure(
    "mean utilisation of the PUs that the servers may run on, the least of all numbers of PUs",
    (resources,),
    _least_busy,
)
