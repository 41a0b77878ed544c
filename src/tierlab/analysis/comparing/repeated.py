"""How surely do repeated trials tell a difference, and how many of them would tell it better?

Independent groups have the variances of their trials pooled; of groups that were made in turns the
differences of neighbours are taken (:mod:`tierlab.analysis.comparing.turns`). Both are Student's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tierlab.analysis.query import Floats
from tierlab.analysis.statistics.variance import EstimatedVariance, of_pairs, of_trials

INTERVAL = 0.05
"""Chance that the truth is in no interval."""
FEWEST_FREEDOM = 4
"""Degrees of it that neighbours must have: with fewer Student's quantile takes more than pairing
gives, and independent groups, which then have twice as many, err on the safe side.
"""
MOST_REPETITIONS = 1_000


class Repeated(Protocol):
    """Groups of trials, and how the difference between them varies."""

    @property
    def of_difference(self) -> EstimatedVariance | None:
        """None where nothing is known of it."""

    def enough(self, reach: float) -> int | None:
        """How many trials a group tell the difference that far; each adds to what is known."""


@dataclass(frozen=True)
class Independent:
    """How a single trial's figure varies (None: not known), and how many are in each group."""

    of_one: EstimatedVariance | None
    first: int
    second: int

    @property
    def of_difference(self) -> EstimatedVariance | None:
        """That of the difference of both groups' means."""
        return self.of_one and self.of_one * (1 / self.first + 1 / self.second)

    def enough(self, reach: float) -> int | None:
        """How many trials a group; each adds a degree of freedom."""
        if self.of_one is None:
            return None
        for trials in range(1, MOST_REPETITIONS + 1):
            freedom = self.of_one.freedom + 2 * trials - self.first - self.second
            if _reaches(self.of_one * (2 / trials), freedom, reach):
                return trials
        return None


@dataclass(frozen=True)
class Paired:
    """How the difference of two neighbours varies, and how many pairs of them there are."""

    of_pair: EstimatedVariance
    pairs: int

    @property
    def of_difference(self) -> EstimatedVariance:
        """That of the pairs' mean difference."""
        return self.of_pair * (1 / self.pairs)

    def enough(self, reach: float) -> int | None:
        """How many trials a group; each pair adds a degree of freedom."""
        for pairs in range(1, MOST_REPETITIONS + 1):
            freedom = self.of_pair.freedom + pairs - self.pairs
            if _reaches(self.of_pair * (1 / pairs), freedom, reach):
                return pairs
        return None


def independent(
    first: Floats, second: Floats, alike: Sequence[Floats], least: float
) -> Independent:
    """Compare figures of trials, one each, as if none had a neighbour. ``alike`` are those of
    groups beside, NaN where there is none; a figure varies by no less than ``least``.
    """
    of_one = of_trials([first, second, *(each[np.isfinite(each)] for each in alike)])
    return Independent(of_one and of_one.at_least(least), first.size, second.size)


def paired(first: Floats, second: Floats, alike: Floats, least: float) -> Paired | None:
    """Compare figures of neighbours, the one beside the other; None where too few are known.
    ``alike`` are differences of alike trials; a figure varies by no less than ``least``.
    """
    of_pair = of_pairs(second - first, alike)
    if of_pair is None or of_pair.freedom < FEWEST_FREEDOM:
        return None
    return Paired(of_pair.at_least(2 * least), first.size)


def differences(alike: Sequence[Floats], pairs: Sequence[Sequence[tuple[int, int]]]) -> Floats:
    """What alike trials differ by in pairs of them, where both have a figure, group after group."""
    found = [
        figures[later] - figures[earlier]
        for figures, of_group in zip(alike, pairs, strict=True)
        for earlier, later in of_group
    ]
    each: Floats = np.array(found, dtype=np.float64)
    return each[np.isfinite(each)]


def _reaches(known: EstimatedVariance, freedom: float, reach: float) -> bool:
    return EstimatedVariance(known.variance, max(1.0, freedom)).reach(INTERVAL) <= reach
