"""How surprising is the best of many tests? Corrections for many comparisons."""

from collections.abc import Sequence

import numpy as np

from tierlab.analysis.query import Floats, Ints


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
    return _back(steps, order)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values of Y. Benjamini and Y. Hochberg, "Controlling the False
    Discovery Rate", JRSS B 57 (1995): of the findings below ``x``, the expected share of false ones
    is at most ``x``.
    """
    order = np.argsort(p_values)
    factor = order.size / np.arange(1, order.size + 1)
    steps = np.asarray(p_values, dtype=np.float64)[order] * factor
    return _back(np.minimum.accumulate(steps[::-1])[::-1], order)


def _back(steps: Floats, order: Ints) -> list[float]:
    """Put adjusted values back into the order in which the tests were given."""
    result = np.empty(order.size)
    result[order] = np.minimum(steps, 1.0)
    return [float(each) for each in result]
