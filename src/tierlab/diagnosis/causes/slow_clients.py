"""Slow clients: requests that came slowly held the server's workers, and others waited for one."""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import not_held_back, stopped, unaccepted
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.slow_senders import WORKERS, sending, share_sending, workers
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "slow_clients"


def judge(context: StallContext) -> Suspect | None:
    """Weigh requests that had not come in full against the server's workers, and connections that
    waited to be accepted. None for a server that has no worker for each connection.
    """
    there = workers(context)
    if there is None:
        return None
    case = Case(NAME, context.subject)
    count = sending(context)
    figure = "" if count is None else f": {count:.0f} at once, of {there} workers"
    held = support("slow senders", share_sending(context))
    case.direct("visits", held, f"requests were sent slowly and kept a worker each{figure}")
    waiting = support("unaccepted", unaccepted(context))
    case.direct("listen", waiting, "connections waited to be accepted")
    not_held_back(case, context)
    case.beside("domain", against(stopped(context)), "its threads were not stopped")
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    count = sending(context)
    figure = "" if count is None else f" ({count:.0f} requests at once)"
    return f"had its workers held by clients that sent their requests slowly{figure}"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    now = context.limits.get(WORKERS)
    size = f" ({WORKERS} now {now})" if now is not None else ""
    return [
        Remedy(
            change="a proxy that needs no worker for each connection before "
            f"{context.subject}, which is then asked once a request has come whole; or bounds on "
            "the time that a request may take to come and on the connections of one address",
            expected="a slow client holds a connection and no worker",
        ),
        Remedy(
            change=f"more workers at {context.subject}{size}",
            expected="as many more slow clients are borne",
        ),
    ]


CAUSE = Cause(
    NAME,
    "slow clients",
    judge,
    happened,
    remedies,
    Leading("listen", "accept_queue"),
    # Who sends slowly holds a worker meanwhile, and many who come at once to do so are no surge.
    explains=frozenset({"burst", "pool"}),
)
