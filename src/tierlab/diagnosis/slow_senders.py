"""How many of a server's workers wait for requests that their senders are still sending?

Who has a worker for each connection has it read a request as it comes. What the wire shows of that
is the time from a request's first byte to its last one. A request that never came whole does not
count: nobody knows whether its client was slow, or gone.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

WORKERS = "threads"
"""The soft resource that each connection needs one of, unless the server says otherwise."""

AROUND_NS = 25_000_000
"""Before and after the first wait, which is longer than it took clients that are gone in 60 ms."""

CONNECTIONS = "max_connections"
"""Who has this one as well reads from all connections at once: a request needs a worker only when
it has come."""


def workers(context: StallContext) -> int | None:
    """Return how many workers the server has for its connections; None where those need none."""
    if context.worker_threads is False or CONNECTIONS in context.limits:
        return None
    return context.limits.get(WORKERS)


def sending(context: StallContext) -> float | None:
    """Return how many requests to the server were being sent, on average over the window or around
    its start, whichever are more: the workers are held before anybody waits for one. None where
    messages were not captured.
    """
    if context.incoming is None:
        return None
    at_ns = context.window.start_ns
    start = Window(start_ns=at_ns - AROUND_NS, end_ns=at_ns + AROUND_NS)
    return max(context.incoming(context.window), context.incoming(start))


def share_sending(context: StallContext) -> float | None:
    """Return the same over its workers; None, too, where it has none of a known number."""
    there, count = workers(context), sending(context)
    return None if count is None or not there else count / there


def no_slow_senders(case: Case, context: StallContext) -> None:
    """Rule a cause out where requests that came slowly held the server's workers; nothing is said
    otherwise.
    """
    share = support("slow senders", share_sending(context))
    if share:
        case.beside("visits", against(share), "its clients sent their requests at once")
