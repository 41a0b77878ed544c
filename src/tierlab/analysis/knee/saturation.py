"""From which load on does throughput no longer follow it?

Two straight lines, the first through the origin, are fitted to the throughput of many loads, ``X =
a min(N, N*) + b max(N - N*, 0)``, by weighted least squares. Their knee N* is where the two
asymptotic bounds of a closed system meet, N* = (R + Z) / Dmax (P. J. Denning and J. P. Buzen, "The
Operational Analysis of Queueing Network Models", Computing Surveys 10, 1978), and the capacity of
an open one. The interval is the profile likelihood's: all N* with which the residuals are not
significantly larger (G. A. F. Seber and C. J. Wild, "Nonlinear Regression", 1989, chapters 5 and
9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.knee.step import Step
from tierlab.analysis.query import Floats
from tierlab.analysis.result import Result

FLAT = 0.5
"""Beyond the knee the slope must be below this part of the one before it."""

CONFIDENCE = 0.95

SURE = 0.999
"""With which two lines must be better than one: the knee is looked for in many places, and one of
them fits noise better than the others (R. B. Davies, "Hypothesis Testing When a Nuisance Parameter
Is Present Only Under the Alternative", Biometrika 64, 1977).
"""

FEWEST = 5
"""Steps; two lines have three parameters."""

PLACES = 100
"""Knees that are tried from each load to the next. Where they lie evenly over all loads, one that
is far below the highest has few of them near it, and its interval comes out too narrow."""


class Saturation(Result):
    """The knee ``load``, from ``low`` to ``high`` with 95 % confidence, and the throughput at it.

    ``slope`` is requests per second for each unit of load before it, ``beyond`` after it.
    """

    load: float
    low: float
    high: float
    throughput: float
    slope: float
    beyond: float


@dataclass(frozen=True)
class _Fits:
    """The best two lines for each knee: residuals (weighted squares) and slopes."""

    knee: Floats
    residual: Floats
    slope: Floats
    beyond: Floats


def saturation(steps: Sequence[Step]) -> Saturation | None:
    """Find the knee of throughput over load; None where two lines are not surely better than one,
    or the second is not surely flatter.
    """
    seen = sorted((step for step in steps if step.load > 0), key=lambda step: step.load)
    load = np.array([step.load for step in seen])
    if np.unique(load).size < FEWEST:
        return None
    throughput = np.array([step.throughput for step in seen])
    # Counts of independent requests have the variance of their mean.
    weight = np.array([step.seconds / max(step.throughput, 1.0) for step in seen])
    fits = _fits(load, throughput, weight)
    best = int(np.argmin(fits.residual))
    least = float(fits.residual[best])
    line = float(np.sum(weight * (throughput - _slope(load, throughput, weight) * load) ** 2))
    freedom = load.size - 3
    if fits.beyond[best] > FLAT * fits.slope[best] or line <= _worse(least, 2, freedom, SURE):
        return None
    within = fits.knee[fits.residual <= _worse(least, 1, freedom, CONFIDENCE)]
    knee, slope = float(fits.knee[best]), float(fits.slope[best])
    return Saturation(
        load=knee,
        low=float(within.min()),
        high=float(within.max()),
        throughput=slope * knee,
        slope=slope,
        beyond=float(fits.beyond[best]),
    )


def _fits(load: Floats, throughput: Floats, weight: Floats) -> _Fits:
    """Knees from the lowest load, as the first line has the origin, to the second-highest."""
    levels = np.unique(load)
    # Each gap without its end, where the next one begins.
    gaps = np.linspace(levels[:-2], levels[1:-1], PLACES, endpoint=False, axis=1)
    knee = np.append(gaps.ravel(), levels[-2])
    before = np.minimum(load, knee[:, None])
    after = np.maximum(load - knee[:, None], 0.0)
    # The normal equations of two regressors.
    aa, bb, ab = (
        (weight * x * y).sum(axis=1) for x, y in ((before, before), (after, after), (before, after))
    )
    ax, bx = ((weight * x * throughput).sum(axis=1) for x in (before, after))
    determinant = aa * bb - ab * ab
    slope = (bb * ax - ab * bx) / determinant
    beyond = (aa * bx - ab * ax) / determinant
    fitted = slope[:, None] * before + beyond[:, None] * after
    residual = (weight * (throughput - fitted) ** 2).sum(axis=1)
    return _Fits(knee, residual, slope, beyond)


def _slope(load: Floats, throughput: Floats, weight: Floats) -> float:
    """Of one line through the origin."""
    return float((weight * load * throughput).sum() / (weight * load * load).sum())


def _worse(least: float, fewer: int, freedom: int, confidence: float) -> float:
    """Above which residual a fit with so many parameters fewer is surely worse than the best."""
    from scipy.special import fdtri  # takes a tenth of a second to load

    return least * (1 + fewer * float(fdtri(fewer, freedom, confidence)) / freedom)
