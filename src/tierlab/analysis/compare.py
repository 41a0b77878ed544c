"""Do two groups of trials differ, by how much, and how sure is that?

Every measure is a relative difference of the second group to the first, with an interval from
drawing both groups again. A difference is claimed only when it is both sure (adjusted for the
number of measures by Holm's procedure) and no smaller than `least`: two trials of one and the same
system differ by a few per cent for reasons that no interval within a trial can show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t as student

from tierlab.analysis.blocks import Blocks
from tierlab.analysis.compare_measures import Measure, Verdict, measures
from tierlab.analysis.corrections import holm
from tierlab.analysis.redrawn import Redrawn
from tierlab.analysis.result import Result

LEAST = 0.05
SURE = 0.05
"""Chance of even one false claim among all measures, as far as the draws know."""
STRETCHES = (60, 12, 5)
"""Of every trial, from short to long; the widest of their intervals is taken."""
OPPOSITE: Mapping[Verdict, Verdict] = {"better": "worse", "worse": "better"}


class Difference(Result):
    """One measure in both groups. ``relative`` is second / first - 1, ``low`` to ``high`` its
    interval at 95 %; ``p`` is adjusted for the number of measures.
    """

    measure: str
    unit: str
    first: float
    second: float
    relative: float
    low: float
    high: float
    p: float
    verdict: Literal["within noise", "better", "worse"]


@dataclass(frozen=True)
class _Seen:
    """A measure of both groups; ``log`` of the ratio, ``spread`` its standard deviation."""

    measure: Measure
    first: float
    second: float
    log: float
    spread: float
    freedom: int
    """Degrees of freedom that the spread is known with."""

    @property
    def p(self) -> float:
        """The chance of a difference this large where there is none, two-sided."""
        if self.spread == 0:
            return 0.0 if self.log else 1.0
        return float(2 * student.sf(abs(self.log) / self.spread, self.freedom))


def compare(
    first: Sequence[Blocks], second: Sequence[Blocks], least: float = LEAST, seed: int = 1
) -> list[Difference]:
    """Compare two groups of trials, each trial cut into blocks, by every measure that both have.

    A measure that is 0 or was not seen in the first group has no relative difference and is left
    out.
    """
    drawn = [(Redrawn(first, count, seed), Redrawn(second, count, seed + 1)) for count in STRETCHES]
    freedom = min(STRETCHES) * min(len(first), len(second)) * 2 - 2
    found = [_seen(each, drawn, freedom) for each in measures(first, second)]
    known = [each for each in found if np.isfinite(each.log) and np.isfinite(each.spread)]
    sure = holm([each.p for each in known])
    return [_worded(each, p, least) for each, p in zip(known, sure, strict=True)]


def _seen(each: Measure, drawn: Sequence[tuple[Redrawn, Redrawn]], freedom: int) -> _Seen:
    one, other = drawn[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = [np.log(each.ratio(one, other)) for one, other in drawn]
        values = [float(each.value(group)[0]) for group in (one, other)]
    spreads = [
        _spread(log[1:], count, min(len(one.trials), len(other.trials)))
        for log, count in zip(logs, STRETCHES, strict=True)
    ]
    return _Seen(each, values[0], values[1], float(logs[0][0]), max(spreads), freedom)


def _spread(drawn: np.ndarray, stretches: int, trials: int) -> float:
    """The standard deviation over the draws; what is few varies too little when drawn again."""
    finite = drawn[np.isfinite(drawn)]
    fewest = trials if trials > 1 else stretches
    return float(np.std(finite) * np.sqrt(fewest / (fewest - 1))) if finite.size else np.nan


def _worded(seen: _Seen, p: float, least: float) -> Difference:
    reach = student.isf(0.025, seen.freedom) * seen.spread
    claimed = p < SURE and abs(seen.log) >= np.log1p(least)
    more = seen.measure.more
    return Difference(
        measure=seen.measure.name,
        unit=seen.measure.unit,
        first=seen.first,
        second=seen.second,
        relative=float(np.expm1(seen.log)),
        low=float(np.expm1(seen.log - reach)),
        high=float(np.expm1(seen.log + reach)),
        p=p,
        verdict=(more if seen.log > 0 else OPPOSITE[more]) if claimed else "within noise",
    )
