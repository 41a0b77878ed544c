"""Quota: a limit on the server's CPU time held it back, whatever CPUs were free."""

from tierlab.analysis.resources.metrics import HELD_BACK
from tierlab.diagnosis.case import Case
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.cpu_share import throttled
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "quota"


def judge(context: StallContext) -> Suspect:
    """Weigh the time in which the kernel kept the domain from running for its limit's sake."""
    case = Case(NAME, context.subject)
    held = throttled(context)
    figure = "" if held is None else f" {held:.0%} of the time"
    case.direct("domain", support("throttled", held), f"its CPU limit held it back{figure}")
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    held = throttled(context)
    figure = f" {held:.0%} of the time" if held is not None else ""
    return f"was held back by the limit on its CPU time{figure}"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change=f"raise or remove the CPU limit of {context.subject}'s domain (cpu.max, "
            "cpu.cfs_quota_us, a container's cpus); a weight protects its neighbours as well, and "
            "leaves it what they do not use",
            expected="it runs whenever it has work and a CPU is free",
        )
    ]


CAUSE = Cause(
    NAME,
    "a limit on its CPU time",
    judge,
    happened,
    remedies,
    Leading("domain", HELD_BACK),
    # Whoever is held back waits for a CPU, and holds its locks and connections meanwhile.
    explains=frozenset({"cpu", "weight", "overload", "freeze", "lock", "pool"}),
)
