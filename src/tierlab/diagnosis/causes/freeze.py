"""Freeze: the server did not run at all, though work waited and CPUs were there.

A stopped process (SIGSTOP, a paused container or virtual machine, a debugger) uses no CPU, waits
for none, and nothing leaves it. A server whose threads all wait for something uses none either:
locks, pools, pauses and packets that are held back on their way are ruled out first, unless it was
stopped for much of the wait.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import (
    CORES,
    idle,
    no_lock,
    no_pause,
    pressure_at_most,
    queued,
    stopped,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.stopped_for import stopped_for
from tierlab.diagnosis.thresholds import support

NAME = "freeze"

LONG = 0.4
"""Of the window: the end of a short one is what the server does when it goes on."""

EDGE = 0.2
"""Of the window at either end: who had just been answered, or was answered first, is no sign."""

LEFT = 0.9
"""How much visits that left in the middle take away."""


def judge(context: StallContext) -> Suspect:
    """Weigh: no CPU used, nothing left, no wait for CPU, memory, disk, locks or a collection. Who
    was stopped for much of the window did none of that meanwhile, whatever followed.
    """
    case = Case(NAME, context.subject)
    seen = stopped_for(context)
    if seen >= LONG:
        case.direct("domain", 1.0, f"its threads were stopped for {seen:.0%} of the time")
        return case.suspect()
    case.direct("domain", idle(context), "the server used no CPU while requests waited")
    case.beside("domain", stopped(context), "its threads were seen stopped")
    case.beside("visits", silent(context), "nothing left the server")
    for resource in ("cpu", "memory", "io"):
        share = support("waited otherwise", pressure_at_most(context, resource))
        case.beside("pressure", against(share), f"it did not wait for {resource}")
    if stopped(context) != 1.0:
        no_pause(case, context)  # a collection that was stopped halfway looks long, too
        _reached(case, context)
    no_lock(case, context)
    return case.suspect()


def _reached(case: Case, context: StallContext) -> None:
    """Rule it out where packets were held back: who is not reached has nothing to do. Nothing is
    said where that was not looked at.
    """
    held = support("queued bytes", queued(context))
    if held is not None:
        case.beside("net", against(held), "no packets waited to be sent")


def silent(context: StallContext) -> float | None:
    """Return 1 where nothing left the server in the middle of the window."""
    if context.leaving is None:
        return None
    edge_ns = int(EDGE * (context.window.end_ns - context.window.start_ns))
    left = support("left", context.leaving(context.around(-edge_ns, -edge_ns))) or 0.0
    return 1.0 - LEFT * left


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
