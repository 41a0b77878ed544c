"""Smoothing of evenly spaced values.

The same as SciPy's `uniform_filter1d` and `gaussian_filter1d`: their package takes longer to load
than most of a report, and is needed for nothing else in it.
"""

import numpy as np

from tierlab.analysis.query import Floats

REACH = 8.0
"""Where a normal kernel is cut, in its standard deviations."""


def running_mean(values: Floats, size: int) -> Floats:
    """Return the mean of the ``size`` values around each; an even window has one more before it.

    Beyond the ends the first and the last value go on.
    """
    before = size // 2
    padded = np.pad(values, (before, size - 1 - before), mode="edge")
    sums = np.concatenate(([0.0], np.cumsum(padded)))
    return np.asarray((sums[size:] - sums[:-size]) / size, dtype=np.float64)


def normal_kernel(values: Floats, deviation: float) -> Floats:
    """Return the values spread by a normal kernel of this standard deviation (in steps).

    Beyond the ends there is nothing.
    """
    reach = int(REACH * deviation + 0.5)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    spread = np.convolve(values, kernel / kernel.sum())
    return np.asarray(spread[reach : reach + values.size], dtype=np.float64)
