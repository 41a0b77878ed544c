"""How surprising is the best of many tests?"""

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Return the adjusted p-values of S. Holm, "A Simple Sequentially Rejective Multiple Test
    Procedure", Scandinavian Journal of Statistics 6 (1979): below ``x``, the chance of even one
    false finding among those below ``x`` is at most ``x``, however the tests depend on each other.

    With ``weights`` (positive, one a test) a test of twice the weight may err twice as often,
    which is described there too.
    """
    share = np.ones(len(p_values)) if weights is None else np.asarray(weights, dtype=np.float64)
    each = np.asarray(p_values, dtype=np.float64) / share
    order = np.argsort(each)
    left = np.cumsum(share[order][::-1])[::-1]
    steps = np.maximum.accumulate(each[order] * left)
    adjusted = np.empty(order.size)
    adjusted[order] = np.minimum(steps, 1.0)
    return [float(each) for each in adjusted]
