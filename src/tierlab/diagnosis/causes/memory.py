"""Memory thrashing: the domain had less memory than its server's working set.

The kernel dropped pages of the server's own files and read them back as major faults: bursts of
page faults, and iowait (J. Park, "Performance Scalability of N-Tier Application in Virtualized
Cloud Environments", PhD thesis, Georgia Institute of Technology, 2016, section 3.3). Read-around
keeps the count small, so the pages that came back and memory pressure are looked at too. Who needs
none of the dropped pages back waits all the same while the kernel makes room at the limit.
"""

from tierlab.diagnosis.case import Case, weakened
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import (
    FAULTS,
    REFAULTS,
    at_limit,
    pressure,
    pressure_beyond,
    short_of_memory,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "memory"


def judge(context: StallContext) -> Suspect:
    """Weigh major faults and the time in which tasks of the domain waited for memory."""
    case = Case(NAME, context.subject)
    figure = f": {said}" if (said := _rates(context)) else ""
    full = ", at its limit" if at_limit(context) else ""
    words = f"its domain was short of memory{full}{figure}"
    case.direct("domain", short_of_memory(context), words)
    stalled = pressure(context, "memory")
    share = "" if stalled is None else f" {stalled:.0%} of the time"
    beyond = support("memory wait", pressure_beyond(context, "memory"))
    case.beside("pressure", weakened(beyond), f"its tasks waited for memory{share}")
    return case.suspect()


def _rates(context: StallContext) -> str:
    rates = ((FAULTS, "major page faults"), (REFAULTS, "pages that had been dropped"))
    seen = [(context.mean("domain", value), what) for value, what in rates]
    said = [f"{rate:,.0f} {what}" for rate, what in seen if rate is not None]
    return f"{' and '.join(said)} a second" if said else ""


def happened(context: StallContext) -> str:
    """Say what happened."""
    if at_limit(context):
        return "had no memory left: its domain was at its limit, and its tasks waited for room"
    figure = f" ({said})" if (said := _rates(context)) else ""
    return f"thrashed: its domain's memory was full and its own pages were read back{figure}"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    limit = context.signal("domain", "memory_limit")
    now = f" (now {limit.usual / 2**20:.0f} MiB)" if limit is not None and limit.usual > 0 else ""
    return [
        Remedy(
            change=f"give {context.subject}'s domain more memory{now}",
            expected="the working set stays in memory: no faults, no stall",
        ),
        Remedy(
            change="move the job that takes the memory to another domain or hour, or limit it",
            expected="the server keeps its pages while the job runs",
        ),
    ]


CAUSE = Cause(
    NAME,
    "too little memory",
    judge,
    happened,
    remedies,
    Leading("domain", f"coalesce({FAULTS}, 0) + coalesce({REFAULTS}, 0)"),
    # Whoever waits for its pages holds its locks and its connections meanwhile.
    explains=frozenset({"disk", "cpu", "overload", "freeze", "lock", "pool"}),
)
