"""Cold cache: a database read its pages from the disk that its buffer pool usually holds.

So it is after a restart or a resize, and after what drove the working set out of the pool: a large
scan, a dump, an import. It ends by itself as the pages come back. The memory that the domain has is
not short then: nothing is read back that the kernel had to drop.
"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import faulting, pressure, pressure_beyond
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "cold_cache"
MISSES = "data_reads * 1e9 / dt_ns"
IN_FLIGHT = "pending_reads"
FROM_DISK = "bytes_read * 1e9 / dt_ns"
LATE_NS = 1_200_000_000
"""A session of PostgreSQL tells a second later which pages it missed, and is polled then."""


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
    missed = _missed(context)
    figure = "" if missed is None else f": {missed:,.0f} more than usual"
    case.direct(
        "database", support("pages missed", missed), f"its buffer pool missed pages{figure}"
    )
    case.beside("domain", *_read(context))
    case.beside("domain", against(faulting(context)), "it did not read pages back after faults")
    return case.suspect()


def _missed(context: StallContext) -> float | None:
    """Return how many pages more than usual were not in the buffer pool."""
    signal, told = context.signal("database", MISSES), context.around(0, LATE_NS)
    beyond = None if signal is None else signal.beyond(told)
    return None if beyond is None else beyond * (told.end_ns - told.start_ns) / 1e9


def _read(context: StallContext) -> tuple[float | None, str]:
    """Return how far pages came from the disk, and the words: one that the pool misses may be in
    the kernel's cache. A fast disk gives many bytes, and on a slow one many wait for a few.
    """
    rate = context.mean("domain", FROM_DISK)
    figure = "" if rate is None else f": {rate / 2**20:,.1f} MiB a second"
    signs = (
        support("read from disk", context.beyond("domain", FROM_DISK)),
        support("reads in flight", context.beyond("database", IN_FLIGHT)),
    )
    read = max((each for each in signs if each is not None), default=None)
    return read, f"its domain read from the disk{figure}"


def happened(context: StallContext) -> str:
    """Say what happened."""
    missed = _missed(context)
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
