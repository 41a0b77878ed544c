"""Disk: the server waited for its device, which others kept busy or a limit held back."""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import (
    SOME,
    checkpoint_told,
    no_cold_pages,
    pressure,
    pressure_beyond,
    short_of_memory,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "disk"


def judge(context: StallContext) -> Suspect:
    """Weigh the time in which tasks of the domain waited for I/O that no page fault asked for."""
    case = Case(NAME, context.subject)
    waited = pressure(context, "io")
    figure = "" if waited is None else f" {waited:.0%} of the time"
    beyond = support("io wait", pressure_beyond(context, "io"))
    case.direct("pressure", beyond, f"its tasks waited for I/O{figure}")
    case.beside("domain", against(short_of_memory(context)), "it was not short of memory")
    no_cold_pages(case, context)
    own = checkpoint_told(context)
    if own is not None:  # where it tells nothing a checkpoint is as likely, by its own case
        case.beside("database", against(own), "it had no checkpoint of its own under way")
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    waited = pressure(context, "io")
    figure = f" ({waited:.0%} of the time)" if waited is not None else ""
    return f"waited for its disk{figure}: writes to the same device went first"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="move what writes (a backup, log rotation, a checkpoint) to another device or "
            f"hour, limit its rate, or give the domain of {context.subject} a larger share of it",
            expected="commits take their usual time",
        )
    ]


CAUSE = Cause(
    NAME,
    "a busy disk",
    judge,
    happened,
    remedies,
    Leading("pressure", SOME, "resource = 'io'"),
    # A commit that waits for its disk holds its locks meanwhile.
    explains=frozenset({"lock"}),
)
