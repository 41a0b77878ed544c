"""Did more users come than usual?"""

import numpy as np

from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.stall_context import StallContext

BEFORE_NS = 100_000_000
SHORT_NS = 150_000_000
"""A surge may be over long before the stall that it makes."""


def surge(context: StallContext) -> float | None:
    """Return the most arrivals in any 150 ms around the stall's start over what is usual.

    What is usual is the median of such stretches of the run and twice the square root of it, as
    independent users scatter by that much.
    """
    if context.arriving is None:
        return None
    start = context.window.start_ns - BEFORE_NS
    counts = [
        context.arriving(Window(start_ns=at, end_ns=at + SHORT_NS))
        for at in range(start, context.window.start_ns + SHORT_NS // 2, SHORT_NS // 5)
    ]
    usual = context.usual_arrivals * SHORT_NS / 1e9
    return float(np.max(counts) / (usual + 2 * np.sqrt(usual) + 1))
