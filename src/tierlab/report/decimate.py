"""Fewer points that draw the same line."""

import numpy as np

from tierlab.analysis.query import Floats, Ints


def keep(value: Floats, buckets: int) -> Ints:
    """Return the indices of the points to keep, in order: the first, last, lowest and highest of
    each of ``buckets`` stretches of equally many points.

    This is M4 (U. Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", PVLDB
    7(10), 2014): drawn that many pixels wide, the line is the same as with all points, so a spike
    of a single sample stays as high as it was. NaN (no value) is never lowest or highest; a stretch
    without any value keeps its ends, so that a gap stays a gap.
    """
    if value.size <= 4 * buckets:
        return np.arange(value.size, dtype=np.int64)
    bucket = np.arange(value.size, dtype=np.int64) * buckets // value.size
    first = np.searchsorted(bucket, np.arange(buckets))
    last = np.append(first[1:], value.size) - 1
    empty = np.isnan(value)
    lowest = np.lexsort((np.where(empty, np.inf, value), bucket))[first]
    highest = np.lexsort((np.where(empty, -np.inf, value), bucket))[last]
    return np.unique(np.concatenate((first, last, lowest, highest)))
