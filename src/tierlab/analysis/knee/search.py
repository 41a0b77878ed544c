"""Which loads to try next, so that few trials find the knee.

The first trial rises in even steps to the load that the file names. Where the knee is above that,
the next one goes on to twice as much; where it is found, further ones rise through its
neighbourhood until it is known well enough, or two have. Every trial is warm after one ramp-up, and
rises, so that what it has to do above the knee is not in the way of what is measured below it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tierlab.analysis.knee.breaking import Breaking, breaking
from tierlab.analysis.knee.saturation import Saturation, saturation
from tierlab.analysis.knee.step import Step, Windows
from tierlab.analysis.result import Result

STEPS = 10
"""Of the first trial, and of those that go further."""

CLOSER = 6
"""Of a trial in the knee's neighbourhood."""

AROUND = (0.15, 0.07)
"""On either side of it, of the first such trial and of the second, which is the last: first wide
enough for a knee that the steps before put too far by one.
"""

PRECISION = 0.03
"""Half the interval's width, as a share of the knee, with which the search ends."""

BELOW, SURELY = 0.98, 2
"""So many steps must be below this part of the knee: else it may be lower than all of them."""

SMALLEST_RISE = 0.02
"""By so large a part of the highest load at least a trial goes beyond it: users are counted on
average, and where all are there a few may just be coming or going."""

MOST_TRIALS = 6
"""Until the knee's neighbourhood is found."""


class Knee(Result):
    """The knee: at ``load`` (users, or requests per second), from ``low`` to ``high`` with 95 %
    confidence; None where it was not reached, and then it is above ``low``.

    With an ``objective`` (its bounds by key, durations in nanoseconds) it is where that breaks,
    else where throughput stops to follow the load, which is ``saturation`` in any case.
    """

    is_closed: bool
    objective: dict[str, float]
    load: float | None
    low: float
    high: float | None
    saturation: Saturation | None
    steps: list[Step]

    @property
    def is_precise(self) -> bool:
        """Whether the interval is narrow enough to end the search."""
        if self.load is None or self.high is None:
            return False
        return self.high - self.low <= 2 * PRECISION * self.load

    def throughput_at(self, load: float) -> float:
        """Requests per second at a load, on straight lines between the steps."""
        import numpy as np

        ordered = sorted(self.steps, key=lambda step: step.load)
        at = [0.0, *(step.load for step in ordered)]
        return float(np.interp(load, at, [0.0, *(step.throughput for step in ordered)]))


def knee(steps: Sequence[Windows], bounds: Mapping[str, float], *, is_closed: bool) -> Knee:
    """Find the knee that these steps show. `steps` must not be empty."""
    figures = sorted((step.step() for step in steps), key=lambda step: step.load)
    flat = saturation(figures)
    broken = breaking(steps, bounds)
    found = broken if broken is not None else _of(flat, figures)
    return Knee(
        is_closed=is_closed,
        objective=dict(bounds),
        load=found.load,
        low=found.low,
        high=found.high,
        saturation=flat,
        steps=figures,
    )


def _of(flat: Saturation | None, steps: Sequence[Step]) -> Breaking:
    if flat is None:
        return Breaking(load=None, low=steps[-1].load, high=None)
    return Breaking(load=flat.load, low=flat.low, high=flat.high)


def first_loads(most: float) -> list[float]:
    """The steps of the first trial: `most` is the load that the file names."""
    return [most * step / STEPS for step in range(1, STEPS + 1)]


def is_near(load: float, most: float) -> bool:
    """Whether a load is so near to the largest one that going on to that would show nothing new."""
    return most - load <= SMALLEST_RISE * load


def next_loads(
    found: Knee, trials: int, closer: int, most: float = math.inf
) -> tuple[list[float], int]:
    """The steps of the next trial after so many, none where the search is over; and how many trials
    in the knee's neighbourhood there are with it, where there were `closer`. No load may be larger
    than `most`.
    """
    highest, lowest = found.steps[-1].load, found.steps[0].load
    goes_further = trials - closer < MOST_TRIALS
    if found.load is None:
        further = min(2 * highest, most) - highest
        goes_further &= not is_near(highest, most)
        rise = [highest + further * step / STEPS for step in range(1, STEPS + 1)]
        # What seemed to be one was none.
        return (rise if goes_further else []), 0
    if sum(step.load < BELOW * found.load for step in found.steps) < SURELY:
        # A single user is the least that there can be.
        goes_further &= not (found.is_closed and lowest <= 1)
        below = [found.load * step / STEPS for step in range(1, STEPS + 1)]
        return (below if goes_further else []), closer
    if found.is_precise or closer == len(AROUND):
        return [], closer
    width = AROUND[closer]
    around = [1 - width + 2 * width * step / (CLOSER - 1) for step in range(CLOSER)]
    return [min(found.load * share, most) for share in around], closer + 1
