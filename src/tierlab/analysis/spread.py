"""How well is a group's figure known? Its spread and the degrees of freedom behind it.

Two spreads are added, and their freedom found, as in B. L. Welch, "The generalization of Student's
problem when several different population variances are involved", Biometrika 34 (1947).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Floats

FINITE = 0.99
"""Share of draws that must have a figure."""


@dataclass(frozen=True)
class Spread:
    """The variance of a figure, known with so many degrees of freedom."""

    variance: float
    freedom: float

    def __add__(self, other: Spread) -> Spread:
        """That of a difference of two independent figures."""
        variance = self.variance + other.variance
        squares = self.variance**2 / self.freedom + other.variance**2 / other.freedom
        freedom = variance**2 / squares if squares else self.freedom + other.freedom
        return Spread(variance, freedom)


def of_draws(drawn: Floats, units: int) -> Spread | None:
    """The spread over draws of so many units, which vary too little when there are few of them;
    None where too many draws have no figure.
    """
    finite = drawn[np.isfinite(drawn)]
    if finite.size < FINITE * drawn.size or units < 2:
        return None
    return Spread(float(np.var(finite)) * units / (units - 1), units - 1)


def of_trials(figures: Sequence[float]) -> Spread:
    """How a single trial's figure differs from another's, from several trials' figures."""
    return Spread(float(np.var(figures, ddof=1)), len(figures) - 1)
