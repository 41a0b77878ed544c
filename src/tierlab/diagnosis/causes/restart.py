"""Restart: the server's processes ended, and others came in their place.

Until those are there nobody works on requests, and what was under way is lost: a new configuration,
a crash, or a manager that ends what uses too much memory. One process that goes and comes in a pool
of many is its daily life.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.replaced import replaced
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "restart"


def judge(context: StallContext) -> Suspect | None:
    """Weigh processes that were replaced. Where a run tells no processes nothing is said: there
    every stall might be a restart.
    """
    share = replaced(context)
    if share is None:
        return None
    case = Case(NAME, context.subject)
    words = f"its processes were replaced: {share:.0%}"
    case.direct("process", support("replaced", share), words)
    _callers_stayed(case, context)
    return case.suspect()


def _callers_stayed(case: Case, context: StallContext) -> None:
    """Rule it out where its caller's processes were replaced, too: a process that serves one
    connection ends with it.
    """
    above = None if context.above is None else context.at(context.above)
    if above is not None and (share := support("replaced", replaced(above))):
        case.beside("process", against(share), f"the processes of {above.subject} were not")


def happened(context: StallContext) -> str:
    """Say what happened."""
    share = replaced(context)
    figure = "" if share is None else f" ({share:.0%} of them)"
    return f"was restarted: its processes ended{figure}, and others came in their place"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change=f"find what restarts {context.subject}: its own log says whether it was told "
            "to, or its processes crashed or were ended for their memory",
            expected="without it these requests take their usual time",
        ),
        Remedy(
            change="have it reload gracefully, so that the old processes go when the new ones are "
            "there, or take it out of its balancer meanwhile",
            expected="requests find a worker at any time",
        ),
    ]


CAUSE = Cause(
    NAME,
    "a restart",
    judge,
    happened,
    remedies,
    None,
    # Whoever has no processes uses no CPU and accepts nobody; those that start use more, and read.
    explains=frozenset({"pool", "freeze", "cpu", "overload", "burst", "disk", "cold_cache"}),
)
