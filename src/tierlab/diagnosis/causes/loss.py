"""Loss: packets to a server were lost, and came when TCP had sent them again.

TCP waits for 200 ms and more before it does (RFC 6298 has 1 s, Linux 200 ms over a quick network),
and twice as long each time: few lost packets delay as many requests by much. A segment that is sent
again although it had arrived is reported as a duplicate by its receiver (RFC 2883): those are taken
off, as servers that answer late bring them about. So does a full accept queue, which drops.
"""

from tierlab.diagnosis.case import against
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.evidence import queued
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.reached_late import reached_late, receiver_idle, sender_idle
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "loss"
LOST = "retransmissions - spurious_retransmissions"
JUST_BEFORE_NS = 50_000_000
"""A connection request that is dropped begins the wait."""


def judge(context: StallContext) -> Suspect | None:
    """Weigh segments that were lost and waits that ended with an arrival, without a queue."""
    case = reached_late(NAME, context)
    if case is None:
        return None
    segments = _lost(context)
    figure = "" if segments is None else f": {segments:.0f}"
    each = None if segments is None else segments / max(1, context.waiting)
    words = f"segments were lost and sent again{figure}, for {context.waiting} that waited"
    case.direct("tcp", support("segments lost", each), words)
    held = support("queued bytes", queued(context))
    case.beside("net", against(held), "no packets waited to be sent")
    full = support("accept queue", _queue(context, case.subject))
    case.beside("listen", against(full), f"the accept queue of {case.subject} had room")
    sender_idle(case, context)
    receiver_idle(case, context)
    return case.suspect()


def _lost(context: StallContext) -> float | None:
    """Return the most segments that any network namespace sent again in the window and that had
    not arrived, beyond its usual.
    """
    found = []
    for subject in context.signals.subjects("tcp", LOST):
        signal = context.signals.get("tcp", LOST, subject)
        seen = None if signal is None else signal.within(context.window)
        if signal is not None and seen is not None and seen.size:
            found.append(max(0.0, float(seen.sum()) - signal.usual * seen.size))
    return max(found, default=None)


def _queue(context: StallContext, server: str) -> float | None:
    """Return how full the server's accept queue was at most."""
    signal = context.signals.get("listen", "accept_queue * 1.0 / nullif(backlog, 0)", server)
    seen = None if signal is None else signal.within(context.around(JUST_BEFORE_NS))
    return float(seen.max()) if seen is not None and seen.size else None


def happened(context: StallContext) -> str:
    """Say what happened."""
    segments = _lost(context)
    figure = "" if segments is None else f" ({segments:.0f} segments)"
    return f"was reached late: packets to it were lost and had to be sent again{figure}"


def remedies(_context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="find where on that way packets are lost: counters of the interfaces and "
            "switches between (drops, errors), a full ring or queue, a firewall's limit, a bad "
            "cable or a wrong duplex",
            expected="requests arrive with the first packet that is sent",
        )
    ]


CAUSE = Cause(
    NAME,
    "lost packets",
    judge,
    happened,
    remedies,
    None,
    # Whoever waits for a lost packet holds its connections meanwhile.
    explains=frozenset({"pool"}),
)
