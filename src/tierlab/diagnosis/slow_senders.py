"""How many of a server's workers wait for requests that their senders are still sending?

Who has a worker for each connection has it read a request as it comes. What the wire shows of that
is the time from a request's first byte to its last one. A request that never came whole does not
count: nobody knows whether its client was slow, or gone.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

WORKERS = "threads"
"""The soft resource that each connection needs one of."""


def sending(context: StallContext) -> float | None:
    """Return how many requests to the server were being sent on average; None where messages were
    not captured.
    """
    return None if context.incoming is None else context.incoming(context.window)


def share_sending(context: StallContext) -> float | None:
    """Return the same over its workers; None, too, where it has none of a known number."""
    workers, count = context.limits.get(WORKERS), sending(context)
    return None if count is None or not workers else count / workers


def no_slow_senders(case: Case, context: StallContext) -> None:
    """Rule a cause out where requests that came slowly held the server's workers; nothing is said
    otherwise.
    """
    share = support("slow senders", share_sending(context))
    if share:
        case.beside("visits", against(share), "its clients sent their requests at once")
