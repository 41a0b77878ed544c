"""Do two figures rise together, by whatever curve?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's, from -1 to 1, and the chance of one as strong where there is none."""

    statistic: float
    pvalue: float


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> RankCorrelation:
    """Return SciPy's rank correlation of two figures of the same things, which are not all alike
    (C. Spearman, "The Proof and Measurement of Association between Two Things", American Journal of
    Psychology 15, 1904).
    """
    from scipy.stats import spearmanr  # takes most of a second to load

    found = spearmanr(one, other)
    return RankCorrelation(float(found.statistic), float(found.pvalue))
