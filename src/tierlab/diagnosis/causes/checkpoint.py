"""Checkpoint: a database wrote its changed pages to its disk, and commits waited behind them.

It does so now and then by itself, to be able to forget its log: at once where the log is full, and
where somebody asks for it (a backup, a copy of a table). A larger log makes it rarer and larger.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import (
    PAGES_FLUSHED,
    faulting,
    pressure,
    pressure_beyond,
    writing_pages,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "checkpoint"


def judge(context: StallContext) -> Suspect | None:
    """Weigh the time in which tasks waited for I/O while it wrote its own pages; None for a server
    that is no database: those tell their locks.
    """
    if not context.tells_locks:
        return None
    case = Case(NAME, context.subject)
    waited = pressure(context, "io")
    figure = "" if waited is None else f" {waited:.0%} of the time"
    beyond = support("io wait", pressure_beyond(context, "io"))
    case.direct("pressure", beyond, f"its tasks waited for I/O{figure}")
    case.direct("database", *writing_pages(context))
    case.beside("domain", against(faulting(context)), "it did not read pages back after faults")
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    waited = pressure(context, "io")
    figure = f" ({waited:.0%} of the time)" if waited is not None else ""
    return f"wrote its changed pages at once, and waited for its disk meanwhile{figure}"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change=f"have {context.subject} spread its checkpoints over more time, write changed "
            "pages earlier, and give it a redo log that is not full before the next one",
            expected="pages are written evenly, and commits take their usual time",
        ),
        Remedy(
            change="move what asks for a checkpoint (a backup, a bulk load, a copy of a table) to "
            f"quiet hours, or give the domain of {context.subject} a faster disk",
            expected="nobody commits meanwhile, or does not wait for long",
        ),
    ]


CAUSE = Cause(
    NAME,
    "a checkpoint",
    judge,
    happened,
    remedies,
    Leading("database", f"coalesce(checkpoints_running, {PAGES_FLUSHED})"),
    # Its pages keep the disk busy, and a commit that waits for it holds its locks meanwhile.
    explains=frozenset({"disk", "lock"}),
)
