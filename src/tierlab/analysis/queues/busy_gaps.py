"""When did a server that held visits let none go, and is that unusual for it in this run?

A stopped server answers nobody: the frozen intervals of Q. Wang et al., "Detecting Transient
Bottlenecks in n-Tier Applications through Fine-Grained Analysis" (ICDCS 2013), found here from the
departures themselves and not from windows.
"""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Ints
from tierlab.analysis.queues.in_progress import InProgress

STILL_NS = 30_000_000
"""A server that holds visits and lets none go for so long may be frozen ..."""

STILL_FACTOR = 4.0
"""... if that is also so many times the 99th percentile of such gaps in this run ..."""

STILL_STAYS = 12.0
"""... and so many times the median visit: at a low load a gap is the time of a single visit, and
one exponential time in 4,000 is longer."""

_SAMPLE = 200_000


@dataclass(frozen=True)
class BusyGaps:
    """Times without a departure although visits were in progress: ``start_ns``, ``end_ns``."""

    start_ns: Ints
    end_ns: Ints

    def longest(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        """Return the longest gap, clipped to a stretch: its length and start."""
        first = np.searchsorted(self.end_ns, start_ns, side="right")
        last = np.searchsorted(self.start_ns, end_ns)
        if first >= last:
            return 0, start_ns
        begin = np.maximum(self.start_ns[first:last], start_ns)
        length = np.minimum(self.end_ns[first:last], end_ns) - begin
        best = int(length.argmax())
        return int(length[best]), int(begin[best])


def busy_gaps(progress: InProgress) -> BusyGaps:
    """Find every stretch from a departure, or a later arrival at an empty server, to the next
    departure. With both arrays sorted, the server was empty after departure ``k`` just when
    arrival ``k + 1`` came later.
    """
    left, came = progress.departure_ns, progress.arrival_ns
    first = came[:1]
    start = np.concatenate([first, np.maximum(left[:-1], came[1:])])
    return BusyGaps(start, np.maximum(left, start))


def longest_usual(progress: InProgress, gaps: BusyGaps) -> float:
    """Return how long a server may go without a departure in this run. Pairing arrivals and
    departures in order, and a regular sample of many, give both quantiles closely enough.
    """
    if not gaps.start_ns.size:
        return STILL_NS
    every = 1 + gaps.start_ns.size // _SAMPLE
    stay = float(np.median((progress.departure_ns - progress.arrival_ns)[::every]))
    gap = float(np.quantile((gaps.end_ns - gaps.start_ns)[::every], 0.99))
    return max(STILL_NS, STILL_FACTOR * gap, STILL_STAYS * stay)
