"""Locks: statements waited for rows or a table that another transaction held."""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.cpu_share import exceeded
from tierlab.diagnosis.evidence import (
    LOCK_WAITS,
    no_cold_pages,
    pressure_beyond,
    stopped,
    waiting_for_locks,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "lock"


def judge(context: StallContext) -> Suspect | None:
    """Weigh the statements that waited for a lock; None for a server that tells no locks."""
    if not context.tells_locks:
        return None
    case = Case(NAME, context.subject)
    waiting = waiting_for_locks(context)
    figure = "" if waiting is None else f": {waiting:.0f} at once"
    case.direct(
        "database",
        support("lock waiters", waiting),
        f"statements waited for a row or table lock{figure}",
    )
    case.beside("domain", against(stopped(context)), "its threads were not stopped")
    for resource in ("cpu", "memory"):
        share = support("locked out", pressure_beyond(context, resource))
        case.beside("pressure", against(share), f"it did not wait for {resource}")
    case.beside("cpu", against(exceeded(context)), "its CPUs had room for more")
    no_cold_pages(case, context)
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    waiting = waiting_for_locks(context)
    count = f"{waiting:.0f} statements" if waiting else "statements"
    return f"held a lock that {count} waited for"


def remedies(_context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="find the transaction that holds the lock (a report, a schema change, a backup "
            "with LOCK TABLES) and move it to quiet hours, make it shorter, or let it read a "
            "consistent snapshot instead",
            expected="statements do not wait for each other",
        )
    ]


CAUSE = Cause(NAME, "a lock", judge, happened, remedies, Leading("database", LOCK_WAITS))
