"""How many of a server's workers wait for requests that their senders are still sending?

Who has a worker for each connection has it read a request as it comes. What the wire shows of that
is the time from a request's first byte to its last one. A request that never came whole does not
count: nobody knows whether its client was slow, or gone.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

WORKERS = "threads"
"""The soft resource that each connection needs one of, unless the server says otherwise."""

CONNECTIONS = "max_connections"
"""Who has this one as well reads from all connections at once: a request needs a worker only when
it has come."""


def workers(context: StallContext) -> int | None:
    """Return how many workers the server has for its connections; None where those need none."""
    if context.worker_threads is False or CONNECTIONS in context.limits:
        return None
    return context.limits.get(WORKERS)


def sending(context: StallContext) -> float | None:
    """Return how many requests to the server were being sent on average; None where messages were
    not captured.
    """
    return None if context.incoming is None else context.incoming(context.window)


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
