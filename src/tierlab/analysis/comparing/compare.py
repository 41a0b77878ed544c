"""Do two groups of trials differ, by how much, and how sure is that?

A trial is one observation (T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time",
ISMM 2013): every measure is a figure of each trial, a group's is their mean (of logarithms, so that
groups are compared by a ratio; of the figures where those may be 0). What alike trials differ by
(how the JVM compiled, where memory lies, who else was on the machine) is seen in trials of this
machine only: the repetitions in both groups, and those of other alike trials beside them. Their
variances are pooled, and the means compared by Student's t. Without any, nothing can be said.
Groups that were made in turns are compared neighbour by neighbour.

Two stretches of one trial have all that in common. How they vary is found by drawing each again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tierlab.analysis.comparing.blocks import Blocks
from tierlab.analysis.comparing.bootstrap import Resampled, as_measured, resampled, stretches
from tierlab.analysis.comparing.compare_measures import Measure, Verdict, measures
from tierlab.analysis.comparing.repeated import (
    INTERVAL,
    Paired,
    Repeated,
    differences,
    independent,
    paired,
)
from tierlab.analysis.comparing.turns import alike_pairs, in_turns
from tierlab.analysis.query import Floats
from tierlab.analysis.result import Result
from tierlab.analysis.statistics.holm import holm
from tierlab.analysis.statistics.variance import EstimatedVariance, of_draws

LEAST = 0.05
SURE = 0.05
"""Chance of even one false claim among all measures of all pairs of groups."""
FEWEST_BLOCKS = 5
OPPOSITE: Mapping[Verdict, Verdict] = {"better": "worse", "worse": "better"}
Pair = tuple[Sequence[Blocks], Sequence[Blocks]]
Words = Literal["not known", "within noise", "better", "worse"]


class Difference(Result):
    """One measure in both groups. ``change`` is second / first - 1, or second - first where
    ``absolute``; ``low`` to ``high`` is its interval at 95 %, for this measure alone; None where
    too little was seen for one, and then nothing is known. ``freedom`` is how many degrees of it
    are behind the interval. ``p`` is adjusted for the number of measures and pairs of groups.
    ``repetitions`` is how many trials a group would have an interval that reaches no further than
    the smallest difference that is claimed, if they vary as these do. ``pairs`` is how many pairs
    of neighbours in time were compared, with the figures of these; None where the groups' trials
    count as independent.
    """

    measure: str
    unit: str
    first: float
    second: float
    change: float
    low: float | None
    high: float | None
    absolute: bool
    freedom: float | None
    repetitions: int | None
    pairs: int | None
    p: float
    verdict: Words


@dataclass(frozen=True)
class _Seen:
    """A measure of both groups; ``shift`` is the difference of logarithms, or of figures, and
    ``known`` how it varies: between trials, or within stretches.
    """

    measure: Measure
    first: float
    second: float
    shift: float
    known: EstimatedVariance | Repeated | None

    @property
    def variance(self) -> EstimatedVariance | None:
        known = self.known
        return known if isinstance(known, EstimatedVariance | None) else known.of_difference

    @property
    def p(self) -> float:
        return 1.0 if self.variance is None else self.variance.p(self.shift)

    def change(self, shift: float) -> float:
        """A shift as people read it."""
        return float(shift if self.measure.least is not None else np.expm1(shift))


def compare(
    pairs: Sequence[Pair],
    least: float = LEAST,
    beside: Sequence[Sequence[Blocks]] = (),
    seed: int = 1,
) -> list[list[Difference]]:
    """Compare two groups of trials of each pair by every measure that all of them have; a claim is
    adjusted for all that is compared. Each trial is cut into ``FEWEST_BLOCKS`` blocks at least and
    has requests that ended well. ``beside`` are groups of trials that are in none of the pairs but
    vary as theirs do, alike within each group.
    """
    seen = [list(_of_trials(first, second, beside, seed)) for first, second in pairs]
    return _judged(seen, least)


def compare_stretches(
    pairs: Sequence[tuple[Blocks, Blocks]], least: float = LEAST, seed: int = 1
) -> list[list[Difference]]:
    """Compare two stretches of one trial of each pair in the same way."""
    return _judged([list(_of_stretches(*pair, seed)) for pair in pairs], least)


def _judged(seen: Sequence[Sequence[_Seen]], least: float) -> list[list[Difference]]:
    kept = [[each for each in of_pair if np.isfinite(each.shift)] for of_pair in seen]
    flat = [each for of_pair in kept for each in of_pair]
    adjusted = iter(holm([each.p for each in flat], [each.measure.weight for each in flat]))
    return [[_worded(each, next(adjusted), least) for each in of_pair] for of_pair in kept]


def _of_trials(
    first: Sequence[Blocks],
    second: Sequence[Blocks],
    beside: Sequence[Sequence[Blocks]],
    seed: int,
) -> Iterator[_Seen]:
    groups = (first, second, *beside)
    one, other, *others = [as_measured(group) for group in groups]
    starts = [[trial.start_ns for trial in group] for group in groups]
    turns = in_turns(starts[0], starts[1])
    near = [[] if turns is None else alike_pairs(each, turns.apart_ns) for each in starts[2:]]
    for measure in measures([each.trial for each in (*one, *other)]):
        mine, its = _scaled(measure, one)[:, 0], _scaled(measure, other)[:, 0]
        alike = [_figures(measure, group) for group in others]
        within = 0.0 if measure.least is None else _within(measure, first, second, seed)
        neighbours = None if turns is None else turns.of(mine, its)
        known = neighbours and paired(*neighbours, differences(alike, near), within)
        if neighbours is not None and known is not None:
            yield _seen(measure, *neighbours, known)
        else:
            yield _seen(measure, mine, its, independent(mine, its, alike, within))


def _within(
    measure: Measure, first: Sequence[Blocks], second: Sequence[Blocks], seed: int
) -> float:
    """The variance of a trial's figure by what varies within it: a share that was 0 in each of a
    few repetitions varies, too.
    """
    trials = (*first, *second)
    cut = stretches(trials)
    drawn = resampled(trials, cut, seed)
    one, other = (_scaled(measure, group) for group in (drawn[: len(first)], drawn[len(first) :]))
    found = of_draws((other.mean(axis=0) - one.mean(axis=0))[1:], cut.count)
    return 0.0 if found is None else found.variance / (1 / len(first) + 1 / len(second))


def _of_stretches(first: Blocks, second: Blocks, seed: int) -> Iterator[_Seen]:
    """They are of different times, so each is drawn by itself."""
    cuts = [stretches([each]) for each in (first, second)]
    sides = [
        resampled([each], cut, seed + n)[0]
        for n, (each, cut) in enumerate(zip((first, second), cuts, strict=True))
    ]
    for measure in measures((first, second)):
        one, other = (_scaled(measure, [side]) for side in sides)
        variances = [
            of_draws(each[0, 1:], cut.count) for each, cut in zip((one, other), cuts, strict=True)
        ]
        both = variances[0] + variances[1] if variances[0] and variances[1] else None
        yield _seen(measure, one[:, 0], other[:, 0], both)


def _seen(
    measure: Measure, first: Floats, second: Floats, known: EstimatedVariance | Repeated | None
) -> _Seen:
    middle, other_middle = float(first.mean()), float(second.mean())
    plain = (middle, other_middle) if measure.least is not None else np.exp([middle, other_middle])
    return _Seen(measure, float(plain[0]), float(plain[1]), other_middle - middle, known)


def _figures(measure: Measure, group: Sequence[Resampled]) -> Floats:
    """A measure of trials beside; NaN where one of them did not measure it."""
    try:
        found: Floats = _scaled(measure, group)[:, 0]
    except KeyError:  # a page or server that the compared ones have
        return np.full(len(group), np.nan)
    return found


def _scaled(measure: Measure, group: Sequence[Resampled]) -> Floats:
    """Figures on the scale on which they are subtracted: shape (trials, 1 + draws)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        figures = np.array([measure.figure(trial) for trial in group])
        return figures if measure.least is not None else np.log(figures)


def _worded(seen: _Seen, p: float, least: float) -> Difference:
    change = seen.change(seen.shift)
    low = high = None
    if seen.variance is not None:
        reach = seen.variance.reach(INTERVAL)
        low, high = seen.change(seen.shift - reach), seen.change(seen.shift + reach)
    smallest = least if seen.measure.least is None else seen.measure.least
    return Difference(
        measure=seen.measure.name,
        unit=seen.measure.unit,
        first=seen.first,
        second=seen.second,
        change=change,
        low=low,
        high=high,
        absolute=seen.measure.least is not None,
        freedom=None if seen.variance is None else seen.variance.freedom,
        repetitions=_enough(seen, smallest),
        pairs=seen.known.pairs if isinstance(seen.known, Paired) else None,
        p=p,
        verdict=_verdict(seen, p, smallest),
    )


def _verdict(seen: _Seen, p: float, smallest: float) -> Words:
    if seen.variance is None:
        return "not known"
    change, more = seen.change(seen.shift), seen.measure.more
    if p >= SURE or abs(change) < smallest:
        return "within noise"
    return more if change > 0 else OPPOSITE[more]


def _enough(seen: _Seen, smallest: float) -> int | None:
    if seen.known is None or isinstance(seen.known, EstimatedVariance) or smallest <= 0:
        return None
    return seen.known.enough(smallest if seen.measure.least is not None else np.log1p(smallest))
