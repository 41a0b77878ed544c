"""What queue length is normal for this run, at each level of load?

By Little's law a queue grows with the load even when all is well, so one threshold for a whole run
would call the top of a ramp-up abnormal. Median and quartile are robust: they stay where they are
while less than half of a level's windows are disturbed (P. J. Rousseeuw, C. Croux, "Alternatives to
the Median Absolute Deviation", JASA 88, 1993).
"""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Floats, Ints
from tierlab.analysis.statistics.smoothing import running_mean

SMOOTH_NS = 5_000_000_000
"""The load is a mean over so long: longer than the bottlenecks sought, shorter than a ramp-up."""

LEVELS = 8
_FEWEST = 40
_QUARTILE = 0.6745
"""The upper quartile of a standard normal distribution, which makes a deviation of a quartile."""


@dataclass(frozen=True)
class Normal:
    """One value a window: the usual queue length ``level``, its ``deviation`` (a robust standard
    deviation) and the usual ``rate`` of departures a second, at the window's load.
    """

    level: Floats
    deviation: Floats
    rate: Floats


def normal_queue(queue: Floats, arrivals: Ints, width_ns: int) -> Normal:
    """Find the normal queue of windows of ``width_ns``, given their mean queue and arrivals.

    The load is capped at the run's median: a surge of users is not normal because it lasts.
    A level of load never has a longer normal queue than a higher one: few windows of a disturbance
    that slows the arrivals down cannot make their own level's normal.
    """
    if not queue.size:
        return Normal(queue, queue, queue)
    size = max(1, min(queue.size, round(SMOOTH_NS / width_ns)))
    rate = running_mean(arrivals.astype(np.float64), size) * 1e9 / width_ns
    load = np.minimum(rate, np.median(rate))
    levels = max(1, min(LEVELS, queue.size // _FEWEST))
    edges = np.unique(np.quantile(load, np.linspace(0, 1, levels + 1)[1:-1]))
    bucket = np.searchsorted(edges, load, side="right")
    count = edges.size + 1
    level, deviation = np.full(count, np.inf), np.full(count, np.inf)
    for each in range(count):
        mine = queue[bucket == each]
        if mine.size >= min(_FEWEST, queue.size // 2):
            half, upper = np.quantile(mine, [0.5, 0.75])
            level[each], deviation[each] = half, (upper - half) / _QUARTILE
    if not np.isfinite(level).any():
        half, upper = np.quantile(queue, [0.5, 0.75])
        level[:], deviation[:] = half, (upper - half) / _QUARTILE
    level = np.minimum.accumulate(level[::-1])[::-1]
    deviation = np.minimum.accumulate(deviation[::-1])[::-1]
    last = int(np.flatnonzero(np.isfinite(level))[-1])
    level[last:], deviation[last:] = level[last], deviation[last]
    return Normal(level[bucket], deviation[bucket], load)
