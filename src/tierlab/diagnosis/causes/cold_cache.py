"""Cold cache: a database read its pages from the disk that its buffer pool usually holds.

So it is after a restart or a resize, and after what drove the working set out of the pool: a large
scan, a dump, an import. It ends by itself as the pages come back. The memory that the domain has is
not short then: nothing is read back that the kernel had to drop.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import (
    FROM_DISK,
    pages_missed,
    pressure,
    pressure_beyond,
    read_from_disk,
    short_of_memory,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "cold_cache"


def judge(context: StallContext) -> Suspect | None:
    """Weigh the time in which tasks waited for I/O while its pool missed pages and the domain read
    them; None for a server that is no database.
    """
    if not context.tells_locks:
        return None
    case = Case(NAME, context.subject)
    waited = pressure(context, "io")
    figure = "" if waited is None else f" {waited:.0%} of the time"
    beyond = support("io wait", pressure_beyond(context, "io"))
    case.direct("pressure", beyond, f"its tasks waited for I/O{figure}")
    missed = pages_missed(context)
    figure = "" if missed is None else f": {missed:,.0f} more than usual"
    case.direct(
        "database", support("pages missed", missed), f"its buffer pool missed pages{figure}"
    )
    rate = context.mean("domain", FROM_DISK)
    figure = "" if rate is None else f": {rate / 2**20:,.1f} MiB a second"
    case.beside("domain", read_from_disk(context), f"its domain read from the disk{figure}")
    case.beside("domain", against(short_of_memory(context)), "it was not short of memory")
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    missed = pages_missed(context)
    figure = "" if missed is None else f" ({missed:,.0f} more than usual)"
    return f"had a cold cache: pages that its buffer pool usually holds came from the disk{figure}"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change=f"find what emptied the buffer pool of {context.subject} (a restart, a resize, "
            "a large scan, a dump), and move it to quiet hours or to a replica",
            expected="the working set stays in memory, and requests take their usual time",
        ),
        Remedy(
            change="have it load the pool again before users come (innodb_buffer_pool_load_at_"
            "startup, pg_prewarm), or give its domain a faster disk",
            expected="few requests wait for pages",
        ),
    ]


CAUSE = Cause(
    NAME,
    "a cold cache",
    judge,
    happened,
    remedies,
    Leading("domain", FROM_DISK),
    # A pool that makes room writes its changed pages first, and whoever waits for a page holds its
    # locks and its connection meanwhile.
    explains=frozenset({"disk", "checkpoint", "lock", "pool"}),
)
