"""Did more users come than usual?"""

import math

import numpy as np

from tierlab.diagnosis.arrivals import Arrivals
from tierlab.diagnosis.stall_context import StallContext

BEFORE_NS = 200_000_000
"""A surge may be over before the stall that it makes begins."""

LENGTHS_NS = (50_000_000, 150_000_000)
"""Few come within the shorter at a low load, and chance weighs more; near capacity a surge of that
length is enough."""


LONGEST_NS = 15_000_000_000
"""What a surge leaves is worked off by then, near capacity too: what lasts longer is more."""


def surge(context: StallContext, before_ns: int | None = None) -> float | None:
    """Return the most arrivals in any 50 or 150 ms around the stall's start, from so long before it
    on (200 ms), over what is usual.

    What is usual is the mean of the run's quieter nine tenths and twice the square root of it, as
    independent users scatter by that much who ask for one thing at a time. Where a page is asked
    for with its files, few users come as many at once, and it is as much more as their counts
    scatter more; so those that went further than the first server are looked at by themselves, too.
    None are of a stall that lasts longer than a surge can make it.
    """
    if context.window.end_ns - context.window.start_ns > LONGEST_NS:
        return 0.0 if context.arrivals else None
    before = BEFORE_NS if before_ns is None else before_ns
    found = [
        _surge(context.window.start_ns, kind, length, before)
        for kind in context.arrivals
        for length in LENGTHS_NS
    ]
    return max(found, default=None)


def _surge(start: int, kind: Arrivals, length_ns: int, before_ns: int) -> float:
    begins = np.arange(start - before_ns, start + length_ns // 2, length_ns // 5, dtype=np.int64)
    most = kind.most(begins, length_ns)
    usual = kind.usual * length_ns / 1e9
    uneven = kind.dispersion
    return most / (usual + 2 * math.sqrt(uneven * usual) + uneven)
