"""Loss: packets to a server were lost, and came when TCP had sent them again.

TCP waits for 200 ms and more before it does (RFC 6298 has 1 s, Linux 200 ms over a quick network),
and twice as long each time: few lost packets delay as many requests by much. A segment that is sent
again although it had arrived is reported as a duplicate by its receiver (RFC 2883): those are taken
off, as servers that answer late bring them about. So does a full accept queue, which drops, and a
queue before the wire: what waits in it for long is sent again.

What is lost before it is captured has not come by the messages' account either: its sender seems to
wait until it is there. What is captured and then lost at the receiver's own end (a firewall, a full
ring) has come by that account, so it is the receiver that seems to keep it.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.evidence import HELD_NS, queued
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.lost_segments import (
    LostSegments,
    accept_queue,
    lost_segments,
    waiting_for_segments,
)
from tierlab.diagnosis.reached_late import reached_late, receiver_idle, sender_idle
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "loss"
MOST = 0.5
"""Where it is as sure that lost segments had been captured before, the server's own end drops
them."""


def judge(context: StallContext) -> Suspect | None:
    """Weigh segments that were lost, without a queue: on the way to whom the suspected server's
    messages reached late, or at its own end.
    """
    on_the_way, at_its_end = _on_the_way(context), _at_its_end(context)
    if on_the_way is None or on_the_way.least < at_its_end.least:
        return at_its_end
    return on_the_way


def _on_the_way(context: StallContext) -> Suspect | None:
    case = reached_late(NAME, context)
    if case is None:
        return None
    lost = lost_segments(context, case.subject)
    _sent_again(case, context, None if lost is None else lost.on_the_way)
    share = None if lost is None else lost.share_at_its_end
    words = f"what was lost had not been captured on its way to {context.subject}"
    case.beside("events", against(support("captured and lost", share)), words)
    _not_dropped_otherwise(case, context)
    sender_idle(case, context)
    receiver_idle(case, context)
    return case.suspect()


def _at_its_end(context: StallContext) -> Suspect:
    case, lost = Case(NAME, context.subject), lost_segments(context, context.subject)
    _sent_again(case, context, None if lost is None else lost.all)
    share = None if lost is None else lost.share_at_its_end
    figure = "" if share is None else f": {share:.0%} of it"
    words = f"what was lost had been captured on its way to {context.subject}{figure}"
    case.direct("events", support("captured and lost", share), words)
    _not_dropped_otherwise(case, context)
    sender_idle(case, context)
    return case.suspect()


def _sent_again(case: Case, context: StallContext, segments: float | None) -> None:
    """Weigh them by who can have waited for one: of those who wait for a worker, or for one of a
    few connections to whom was reached late, each connection's one.
    """
    figure = "" if segments is None else f": {segments:.0f}"
    waited = waiting_for_segments(context, case.subject) if segments else context.waiting
    each = None if segments is None else segments / max(1, waited)
    words = f"segments were lost and sent again{figure}, for {waited} that waited"
    case.direct("tcp", support("segments lost", each), words)


def _not_dropped_otherwise(case: Case, context: StallContext) -> None:
    held = support("queued bytes", queued(context, HELD_NS))
    case.beside("net", against(held), "no packets waited to be sent")
    full = support("accept queue", accept_queue(context, case.subject))
    case.beside("listen", against(full), f"the accept queue of {case.subject} had room")


def _is_at_its_end(lost: LostSegments | None) -> bool:
    share = None if lost is None else lost.share_at_its_end
    return (support("captured and lost", share) or 0.0) > MOST


def happened(context: StallContext) -> str:
    """Say what happened, and at which end of the way."""
    lost = lost_segments(context, context.subject)
    figure = "" if lost is None else f" ({lost.all:.0f} segments)"
    if _is_at_its_end(lost):
        return f"lost packets at its own end of the way, and they had to be sent again{figure}"
    known = lost is not None and lost.at_its_end is not None
    where = "" if known else ", at which end of the way is not known,"
    return f"was reached late: packets to it were lost{where} and had to be sent again{figure}"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    if _is_at_its_end(lost_segments(context, context.subject)):
        change = (
            "find what drops packets at the server itself, those that come or its answers: its "
            "firewall's rules and limits (connection tracking, too), counters of its interface "
            "(drops, errors), a full ring"
        )
    else:
        change = (
            "find where on that way packets are lost, from their sender on: counters of the "
            "interfaces and switches between (drops, errors), a full ring or queue, a firewall's "
            "limit, a bad cable or a wrong duplex"
        )
    return [Remedy(change=change, expected="requests arrive with the first packet that is sent")]


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
