"""Do two groups of trials differ, by how much, and how sure is that?

Every measure is compared by the ratio of the second group's figure to the first's (by their
difference where it may be 0), with an interval from drawing both groups again. A difference is
claimed only when it is both sure (adjusted for the number of measures) and no
smaller than ``least``: two trials of one and the same system differ by a few per cent for reasons
that no interval within a trial can show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t as student

from tierlab.analysis.blocks import BIN, Blocks
from tierlab.analysis.compare_measures import Measure, Verdict, measures
from tierlab.analysis.corrections import holm
from tierlab.analysis.query import Floats
from tierlab.analysis.redrawn import Redrawn
from tierlab.analysis.result import Result
from tierlab.analysis.spread import Spread, of_draws, of_trials

LEAST = 0.05
SURE = 0.05
"""Chance of even one false claim among all measures of a pair of groups."""
MAIN_SHARE = 0.8
"""Of that chance, how much is for the main measures."""
STRETCHES = (60, 12, 5)
"""Of every trial, from short to long, as what drifts shows only in long ones; the widest counts."""
FEWEST_BLOCKS = min(STRETCHES)
FINEST = (np.log(BIN) ** 2) / 12
"""Variance of a figure that is known to one bin of response times."""
OPPOSITE: Mapping[Verdict, Verdict] = {"better": "worse", "worse": "better"}


class Difference(Result):
    """One measure in both groups. ``change`` is second / first - 1, or second - first where
    ``absolute``; ``low`` to ``high`` is its interval at 95 %, for this measure alone; None where
    too little was seen for one. ``p`` is adjusted for the number of measures.
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
        """The chance of a shift this large where there is none, two-sided."""
        if self.spread is None or self.shift == 0:
            return 1.0
        if self.spread.variance == 0:
            return 0.0
        return float(
            2 * student.sf(abs(self.shift) / self.spread.variance**0.5, self.spread.freedom)
        )

    def change(self, shift: float) -> float:
        """A shift as people read it."""
        return float(shift if self.measure.least is not None else np.expm1(shift))


def compare(
    first: Sequence[Blocks], second: Sequence[Blocks], least: float = LEAST, seed: int = 1
) -> list[Difference]:
    """Compare two groups of trials, each trial cut into ``FEWEST_BLOCKS`` blocks at least with
    requests that ended well, by every measure that both have.
    """
    one = [Redrawn(first, count, seed) for count in STRETCHES]
    other = [Redrawn(second, count, seed + 1) for count in STRETCHES]
    seen = [_seen(each, one, other) for each in measures(first, second)]
    known = [each for each in seen if np.isfinite(each.shift)]
    return [_worded(each, p, least) for each, p in zip(known, _adjusted(known), strict=True)]


def _adjusted(known: Sequence[_Seen]) -> list[float]:
    """Adjust every p for the others by Holm's procedure; most of the risk of a false claim is for
    what is mostly asked.
    """
    found = [1.0] * len(known)
    for main, share in ((True, MAIN_SHARE), (False, 1 - MAIN_SHARE)):
        places = [place for place, each in enumerate(known) if each.measure.main is main]
        for place, p in zip(places, holm([known[i].p for i in places]), strict=True):
            found[place] = min(1.0, p / share)
    return found


def _seen(each: Measure, one: Sequence[Redrawn], other: Sequence[Redrawn]) -> _Seen:
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = [[_scaled(each, group) for group in groups] for groups in (one, other)]
    first, second = (float(figures[0][0]) for figures in sides)
    spreads = [
        _spread(each, groups, figures) for groups, figures in zip((one, other), sides, strict=True)
    ]
    borrowed = [_borrowed(each, one[0], other[0]), _borrowed(each, other[0], one[0])]
    wide = [_wider(mine, theirs) for mine, theirs in zip(spreads, borrowed, strict=True)]
    both = None if wide[0] is None or wide[1] is None else wide[0] + wide[1]
    plain = (first, second) if each.least is not None else (np.exp(first), np.exp(second))
    return _Seen(each, float(plain[0]), float(plain[1]), second - first, both)


def _scaled(each: Measure, group: Redrawn) -> Floats:
    """The measure's figures, on the scale on which they are subtracted."""
    figures = each.figure(group)
    return figures if each.least is not None else np.log(figures)


def _spread(each: Measure, groups: Sequence[Redrawn], figures: Sequence[Floats]) -> Spread | None:
    """The widest over all lengths of stretches."""
    found = [of_draws(drawn[1:], group.units) for group, drawn in zip(groups, figures, strict=True)]
    known = [spread for spread in found if spread is not None]
    if len(known) < len(found):
        return None
    widest = max(known, key=lambda spread: spread.variance)
    floor = FINEST if each.name.startswith("response time") else 0.0
    return Spread(max(widest.variance, floor), widest.freedom)


def _borrowed(each: Measure, single: Redrawn, repeated: Redrawn) -> Spread | None:
    """What the repeated trials of the other group say of a trial that stands alone."""
    if len(single.trials) > 1 or len(repeated.trials) < 2:
        return None
    alone = [Redrawn([trial], 1, seed=0, draws=0) for trial in repeated.trials]
    with np.errstate(divide="ignore", invalid="ignore"):
        figures = [float(_scaled(each, trial)[0]) for trial in alone]
    return of_trials(figures) if np.isfinite(figures).all() else None


def _wider(own: Spread | None, borrowed: Spread | None) -> Spread | None:
    if own is None or borrowed is None:
        return own
    return max(own, borrowed, key=lambda spread: spread.variance)


def _worded(seen: _Seen, p: float, least: float) -> Difference:
    change = seen.change(seen.shift)
    low = high = None
    if seen.spread is not None:
        reach = float(student.isf(0.025, seen.spread.freedom)) * seen.spread.variance**0.5
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
