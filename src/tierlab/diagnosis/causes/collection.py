"""Garbage collection: the runtime held all its threads to collect, and logged it."""

from tierlab.diagnosis.case import Case, against, weakened
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.evidence import CORES, paused, stopped
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "gc"


def judge(context: StallContext) -> Suspect | None:
    """Weigh how much of the window the logged pauses cover; None for a server that tells none."""
    if not context.tells_pauses:
        return None
    case = Case(NAME, context.subject)
    share = paused(context)
    figure = "" if share is None else f" {share:.0%} of the time"
    case.direct(
        "events", support("paused", share), f"its own log says that all threads stood{figure}"
    )
    case.beside("domain", against(stopped(context)), "its threads were not stopped from outside")
    computed = weakened(support("collecting", context.mean("domain", CORES)))
    case.beside("domain", computed, "it used CPU meanwhile, as a collector does")
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened, with the collector's own words."""
    reasons = sorted({each.reason for each in context.pauses or [] if each.touches(context.window)})
    said = f" ({', '.join(reasons[:2])})" if reasons else ""
    return f"stopped all its threads to collect garbage{said}"


def remedies(_context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="find what asks for full collections (System.gc, a heap dump, jcmd) or give the "
            "heap room; a concurrent collector (-XX:+UseZGC, -XX:+UseShenandoahGC) stops threads "
            "for a millisecond only",
            expected="pauses below the requests' usual time",
        )
    ]


CAUSE = Cause(
    NAME,
    "garbage collection",
    judge,
    happened,
    remedies,
    None,
    # Threads that stand keep the connections that they have.
    explains=frozenset({"cpu", "overload", "pool"}),
)
