"""Do two groups of trials differ, by how much, and how sure is that?

A trial is one observation: every measure is a figure of each trial, a group's is their mean (of
logarithms, so that groups are compared by a ratio; of the figures where those may be 0). How much a
trial's figure is off has two parts, as in T. Kalibera and R. Jones, "Rigorous Benchmarking in
Reasonable Time", ISMM 2013. What varies within a trial is found by drawing both groups again in the
same stretches of time. What differs between alike trials (how the JVM compiled, where memory lies,
who else was on the machine) cannot be seen in one of them: it is expected as each measure says it,
and repetitions on either side correct that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tierlab.analysis.blocks import Blocks
from tierlab.analysis.compare_measures import Measure, Verdict, measures
from tierlab.analysis.corrections import holm
from tierlab.analysis.query import Floats
from tierlab.analysis.redrawn import Redrawn, redrawn, stretches
from tierlab.analysis.result import Result
from tierlab.analysis.spread import Spread, of_draws, of_trials

LEAST = 0.05
SURE = 0.05
"""Chance of even one false claim among all measures of all pairs of groups."""
FEWEST_BLOCKS = 5
BETWEEN_FREEDOM = 5
"""Of what alike trials are expected to differ by: little, since it was found on one machine and may
not hold on another, so that a few repetitions outweigh it."""
OPPOSITE: Mapping[Verdict, Verdict] = {"better": "worse", "worse": "better"}
Pair = tuple[Sequence[Blocks], Sequence[Blocks]]


class Difference(Result):
    """One measure in both groups. ``change`` is second / first - 1, or second - first where
    ``absolute``; ``low`` to ``high`` is its interval at 95 %, for this measure alone; None where
    too little was seen for one. ``p`` is adjusted for the number of measures and pairs of groups.
    """

    measure: str
    unit: str
    first: float
    second: float
    change: float
    low: float | None
    high: float | None
    absolute: bool
    p: float
    verdict: Literal["within noise", "better", "worse"]


@dataclass(frozen=True)
class _Seen:
    """A measure of both groups; ``shift`` is the difference of logarithms, or of figures."""

    measure: Measure
    first: float
    second: float
    shift: float
    spread: Spread | None

    @property
    def p(self) -> float:
        return 1.0 if self.spread is None else self.spread.p(self.shift)

    def change(self, shift: float) -> float:
        """A shift as people read it."""
        return float(shift if self.measure.least is not None else np.expm1(shift))


def compare(pairs: Sequence[Pair], least: float = LEAST, seed: int = 1) -> list[list[Difference]]:
    """Compare two groups of trials of each pair by every measure that all of them have; a claim is
    adjusted for all that is compared. Each trial is cut into ``FEWEST_BLOCKS`` blocks at least and
    has requests that ended well.
    """
    seen = [_all_seen(first, second, seed) for first, second in pairs]
    flat = [each for of_pair in seen for each in of_pair]
    adjusted = iter(holm([each.p for each in flat], [each.measure.weight for each in flat]))
    return [[_worded(each, next(adjusted), least) for each in of_pair] for of_pair in seen]


def _all_seen(first: Sequence[Blocks], second: Sequence[Blocks], seed: int) -> list[_Seen]:
    trials = (*first, *second)
    units = stretches(trials)
    drawn = redrawn(trials, units, seed)
    one, other = drawn[: len(first)], drawn[len(first) :]
    found = [_seen(each, one, other, units) for each in measures(trials)]
    return [each for each in found if np.isfinite(each.shift)]


def _seen(measure: Measure, one: Sequence[Redrawn], other: Sequence[Redrawn], units: int) -> _Seen:
    first, second = _scaled(measure, one), _scaled(measure, other)
    middle, other_middle = (float(each[:, 0].mean()) for each in (first, second))
    plain = (middle, other_middle) if measure.least is not None else np.exp([middle, other_middle])
    return _Seen(
        measure,
        float(plain[0]),
        float(plain[1]),
        other_middle - middle,
        _spread(measure, first, second, units),
    )


def _scaled(measure: Measure, group: Sequence[Redrawn]) -> Floats:
    """Figures on the scale on which they are subtracted: shape (trials, 1 + draws)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        figures = np.array([measure.figure(trial) for trial in group])
        return figures if measure.least is not None else np.log(figures)


def _spread(measure: Measure, first: Floats, second: Floats, units: int) -> Spread | None:
    """That of the difference of the groups; None where too little was seen."""
    with np.errstate(invalid="ignore"):
        within = of_draws((second.mean(axis=0) - first.mean(axis=0))[1:], units)
    if within is None:
        return None
    share = 1 / len(first) + 1 / len(second)
    expected = within * (1 / share) + Spread(measure.between**2, BETWEEN_FREEDOM)
    repeated = of_trials([first[:, 0], second[:, 0]])
    return (expected if repeated is None else expected.pooled(repeated)) * share


def _worded(seen: _Seen, p: float, least: float) -> Difference:
    change = seen.change(seen.shift)
    low = high = None
    if seen.spread is not None:
        reach = seen.spread.reach(0.05)
        low, high = seen.change(seen.shift - reach), seen.change(seen.shift + reach)
    smallest = least if seen.measure.least is None else seen.measure.least
    more = seen.measure.more
    claimed = p < SURE and abs(change) >= smallest
    return Difference(
        measure=seen.measure.name,
        unit=seen.measure.unit,
        first=seen.first,
        second=seen.second,
        change=change,
        low=low,
        high=high,
        absolute=seen.measure.least is not None,
        p=p,
        verdict=(more if change > 0 else OPPOSITE[more]) if claimed else "within noise",
    )
