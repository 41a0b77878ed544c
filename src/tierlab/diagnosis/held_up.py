"""Is a server held up by those below it? Then more of its workers and connections would be, too.

A slow server below fills the pool above it with calls under way, though no one of its own visits
need be long enough to be a stall. Behind a pool that is too small calls take no longer than usual.
"""

from tierlab.diagnosis.slow_senders import WORKERS
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

POOL = "pool"


def held_up(context: StallContext) -> float | None:
    """Return how far calls take longer than usual, 0 where most of what the server has for them is
    in use without one, or there are fewer connections than usual; None where that is not known.
    """
    if context.calls is None:
        return None
    if made_smaller(context, POOL):
        return 0.0
    longer = support("calls longer", context.calls.times_longer(context.window))
    most = _most_at_once(context)
    if longer is None or not most:
        return longer
    working = context.calls.in_progress(context.window) / most
    return longer if support("working", working) else 0.0


def out_of_connections(context: StallContext) -> float | None:
    """Return how far calls that take longer than usual have all that there can be; None where it is
    not known how many that are.
    """
    return held_up(context) if context.calls is not None and _most_at_once(context) else None


def made_smaller(context: StallContext, name: str) -> bool:
    """Say whether a soft resource has a lower limit than usual."""
    limit = context.signal("soft", '"limit"', f"resource = '{name}'")
    return limit is not None and bool((limit.within(context.window) < limit.usual).any())


def _most_at_once(context: StallContext) -> float:
    """Return how many calls there can be: connections in use, else as many as workers."""
    used = context.signal("soft", "in_use", f"resource = '{POOL}'")
    seen = None if used is None else used.within(context.window)
    if seen is not None and seen.size:
        return float(seen.max())
    return float(context.limits.get(WORKERS, 0)) if context.worker_threads else 0.0
