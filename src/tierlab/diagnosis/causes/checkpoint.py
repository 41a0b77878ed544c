"""Checkpoint: a database wrote its changed pages to its disk, and commits waited behind them.

It does so now and then by itself, to be able to forget its log: at once where the log is full, and
where somebody asks for it (a backup, a copy of a table). A larger log makes it rarer and larger.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import (
    CHECKPOINTS,
    checkpoint_told,
    pressure,
    pressure_beyond,
    short_of_memory,
    warming,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "checkpoint"
FLUSHED = "pages_flushed * 1e9 / dt_ns"
BATCH_NS = 300_000_000
"""Pages are counted in batches, when they are handed to the disk: it writes for a while then."""


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
    case.direct("database", *_writing(context))
    case.beside("domain", against(short_of_memory(context)), "it was not short of memory")
    if context.signal("database", CHECKPOINTS) is None:
        # What has to be read needs room first: pages are written then, too, and nobody says why.
        reads = against(warming(context))
        case.beside("database", reads, "it read no pages that its pool usually holds")
    return case.suspect()


def _writing(context: StallContext) -> tuple[float | None, str]:
    """Return how far it wrote changed pages, beyond the usual, and the words: by what it says of a
    checkpoint under way or, where it says nothing, by the pages.
    """
    if context.signal("database", CHECKPOINTS) is not None:
        return checkpoint_told(context), "a checkpoint was under way"
    flushed, around = context.signal("database", FLUSHED), context.around(BATCH_NS)
    rate = None if flushed is None else flushed.mean(around)
    figure = "" if rate is None else f": {rate:,.0f} a second"
    beyond = None if flushed is None else flushed.beyond(around)
    return support("pages flushed", beyond), f"it wrote its changed pages{figure}"


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
    Leading("database", f"coalesce({CHECKPOINTS}, {FLUSHED})"),
    # Its pages keep the disk busy, and a commit that waits for it holds its locks meanwhile.
    explains=frozenset({"disk", "lock"}),
)
