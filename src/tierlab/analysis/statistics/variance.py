"""How well is a figure known? Its variance and the degrees of freedom behind it.

Two are added, and their freedom found, as in B. L. Welch, "The generalization of Student's problem
when several different population variances are involved", Biometrika 34 (1947).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Floats

FINITE = 0.99
"""Share of draws that must have a figure."""


@dataclass(frozen=True)
class EstimatedVariance:
    """The variance of a figure, known with so many degrees of freedom."""

    variance: float
    freedom: float

    def __add__(self, other: EstimatedVariance) -> EstimatedVariance:
        """That of the sum, or the difference, of two independent figures."""
        variance = self.variance + other.variance
        squares = self.variance**2 / self.freedom + other.variance**2 / other.freedom
        freedom = variance**2 / squares if squares else self.freedom + other.freedom
        return EstimatedVariance(variance, freedom)

    def __mul__(self, factor: float) -> EstimatedVariance:
        """The same with so many times the variance."""
        return EstimatedVariance(self.variance * factor, self.freedom)

    def at_least(self, variance: float) -> EstimatedVariance:
        """The same, but of no less variance."""
        return EstimatedVariance(max(self.variance, variance), self.freedom)

    def reach(self, chance: float) -> float:
        """How far off the figure is at most, but for this chance."""
        from scipy.special import stdtrit  # takes a tenth of a second to load

        return float(-stdtrit(self.freedom, chance / 2) * self.variance**0.5)

    def p(self, shift: float) -> float:
        """The chance of a figure this far from 0 where 0 is true, two-sided."""
        if shift == 0 or self.variance == 0:
            return 1.0 if shift == 0 else 0.0
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(shift) / self.variance**0.5))


def of_draws(drawn: Floats, units: int) -> EstimatedVariance | None:
    """The variance over draws of so many units, which vary too little when there are few of them;
    None where too many draws have no figure.
    """
    finite = drawn[np.isfinite(drawn)]
    if finite.size < FINITE * drawn.size or units < 2:
        return None
    return EstimatedVariance(float(np.var(finite)) * units / (units - 1), units - 1)


def of_trials(groups: Sequence[Floats]) -> EstimatedVariance | None:
    """How a trial's figure differs from another's in its group, over all groups; None where each
    has a single trial.
    """
    freedom = sum(each.size - 1 for each in groups if each.size)
    if not freedom:
        return None
    squares = sum(float(np.sum((each - each.mean()) ** 2)) for each in groups if each.size)
    return EstimatedVariance(squares / freedom, freedom)


def of_pairs(differences: Floats, alike: Floats) -> EstimatedVariance | None:
    """How the difference within a pair of trials varies: seen in pairs that have one mean, and in
    pairs of ``alike`` trials, which have 0. None where nothing is seen of it.
    """
    freedom = differences.size - 1 + alike.size
    if not freedom:
        return None
    squares = float(np.sum((differences - differences.mean()) ** 2) + np.sum(alike**2))
    return EstimatedVariance(squares / freedom, freedom)
