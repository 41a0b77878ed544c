"""Burst: more users came at once than the system could serve."""

from tierlab.diagnosis.case import Case
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.evidence import not_held_back
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.slow_senders import no_slow_senders
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.surge import surge
from tierlab.diagnosis.thresholds import support

NAME = "burst"


def judge(context: StallContext) -> Suspect:
    """Weigh the arrivals just before and in the window against the run's usual."""
    case = Case(NAME, context.entry)
    times = surge(context)
    figure = "" if times is None else f": {times:.1f} times the usual"
    case.direct("visits", support("surge", times), f"arrivals at the first tier{figure}")
    not_held_back(case, context)
    no_slow_senders(case, context.at(context.entry) or context)
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    times = surge(context)
    figure = f" ({times:.1f} times the usual arrivals)" if times is not None else ""
    return f"was hit by a surge of users{figure}"


def remedies(_context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="smooth the arrivals (a rate limit or a waiting room before the first tier) or "
            "keep capacity for the surge",
            expected="the queue at the first tier stays short",
        )
    ]


CAUSE = Cause(
    NAME,
    "a surge of users",
    judge,
    happened,
    remedies,
    leading=None,
    stands_alone=lambda _context: False,
    explains=frozenset({"cpu", "overload", "pool", "disk"}),
)
