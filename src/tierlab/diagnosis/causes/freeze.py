"""Freeze: the server did not run at all, though work waited and CPUs were there.

A stopped process (SIGSTOP, a paused container or virtual machine, a debugger) uses no CPU, waits
for none, and nothing leaves it. A server whose threads all wait for something uses none either:
locks, pools and pauses are ruled out first.
"""

from tierlab.diagnosis.case import Case, against, ramp
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import (
    CORES,
    idle,
    paused,
    pressure_at_most,
    stopped,
    waiting_for_locks,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext

NAME = "freeze"


def judge(context: StallContext) -> Suspect:
    """Weigh: no CPU used, nothing left, no wait for CPU, memory, disk, locks or a collection."""
    case = Case(NAME, context.subject)
    case.direct("domain", idle(context), "the server used no CPU while requests waited")
    case.beside("domain", stopped(context), "its threads were seen stopped")
    case.beside("visits", silent(context), "nothing left the server")
    for resource in ("cpu", "memory", "io"):
        share = pressure_at_most(context, resource)
        case.beside("pressure", against(ramp(share, 0.3, 0.6)), f"it did not wait for {resource}")
    case.beside("events", against(_paused(context)), "no pause of its own runtime")
    if context.kind == "mariadb":
        locks = waiting_for_locks(context)
        case.beside("database", against(ramp(locks, 0, 2)), "no statement waited for a lock")
    return case.suspect()


def _paused(context: StallContext) -> float | None:
    """Return how far it paused by itself: a collection stopped halfway looks long, too."""
    if context.kind != "tomcat" or stopped(context) == 1.0:
        return 0.0
    return ramp(paused(context), 0.3, 0.6)


def silent(context: StallContext) -> float | None:
    """Return 1 where nothing left the server in the middle of the window."""
    if context.leaving is None:
        return None
    length = context.window.end_ns - context.window.start_ns
    middle = context.around(-length // 5, -length // 5)
    return 1.0 - 0.9 * min(1.0, context.leaving(middle) / 3)


def happened(_context: StallContext) -> str:
    """Say what happened."""
    return "did not run at all: it was stopped, although it had work and CPUs were there"


def remedies(_context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="find what stops the processes: a debugger, a snapshot or backup that stops the "
            "domain, a live migration, a suspended container or virtual machine",
            expected="without the stop these requests take their usual time",
        )
    ]


CAUSE = Cause(
    NAME, "a stopped server", judge, happened, remedies, Leading("domain", CORES, low=True)
)
