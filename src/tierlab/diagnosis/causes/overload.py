"""Overload: the requests themselves took more CPU time than there is."""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.cpu_share import (
    busy_share,
    full,
    no_limit,
    outweighed,
    served_share,
    thread_full,
    thread_share,
)
from tierlab.diagnosis.evidence import CORES, no_pause, pressure, short_of_memory, wanting
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.neighbour import taken
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.surge import surge
from tierlab.diagnosis.thresholds import support

NAME = "overload"
EXPECTED = "demand stays below capacity, and queues stay short"
UP_TO_FULL_NS = 1_000_000_000
"""Who came all at once may have come so long before it: what they ask for fills the CPUs bit by
bit, and where requests are late is told by the second."""


def judge(context: StallContext) -> Suspect:
    """Weigh full CPUs, a server that wants more of them, and nobody else who used them. To blame is
    the server that used most: who waits for its answers may want no CPU meanwhile.
    """
    if thread_full(context):
        return _of_thread(context)
    most = busiest(context)
    case = Case(NAME, most.subject)
    share = busy_share(context)
    figure = "" if share is None else f": {share:.0%}"
    case.direct("cpu", full(context), f"all CPUs that it may run on were busy{figure}")
    waits = max((most, context), key=lambda each: pressure(each, "cpu") or 0.0)
    waited = pressure(waits, "cpu")
    whose = "its threads" if waits.subject == most.subject else f"{waits.subject}'s threads"
    often = "" if waited is None else f" {waited:.0%} of the time"
    case.direct("pressure", wanting(waits), f"{whose} were ready and got no CPU{often}")
    served = served_share(context)
    much = "" if served is None else f": {served:.0%}"
    case.direct("domain", support("served", served), f"most of that was the servers'{much}")
    case.beside("domain", against(taken(context)), "no more than usual went to others")
    surged = support("surge", surge(context, UP_TO_FULL_NS))
    case.beside("visits", against(surged), "no surge of users")
    case.beside("domain", against(short_of_memory(context)), "it was not short of memory")
    no_pause(case, context)
    no_limit(case, context)
    low = support("outweighed", outweighed(context))
    case.beside("domain", against(low), "its weight is not below the others'")
    return case.suspect()


def _of_thread(context: StallContext) -> Suspect:
    """Weigh a thread that all requests need: who waits for it waits for no CPU, and it does not
    run while it waits for anything itself.
    """
    case = Case(NAME, context.subject)
    words = f"its busiest thread ran all the time: {thread_share(context) or 0.0:.0%}"
    case.direct("process", thread_full(context), words)
    surged = support("surge", surge(context, UP_TO_FULL_NS))
    case.beside("visits", against(surged), "no surge of users")
    no_pause(case, context)
    return case.suspect()


def _by_chance(context: StallContext) -> bool:
    """Say whether its CPUs were full for no longer than chance keeps them at this load. A thread
    that is full for a moment had one request too dear.
    """
    full_by_chance = busiest(context).full_by_chance
    if thread_full(context) or full_by_chance is None:
        return False
    return full_by_chance(context.window)


def busiest(context: StallContext) -> StallContext:
    """Return who used most of the CPU time of the CPUs that the server may run on."""
    return max(
        (context, *context.peers),
        key=lambda each: context.shared(each) * (each.mean("domain", CORES) or 0.0),
    )


def happened(context: StallContext) -> str:
    """Say what happened."""
    if thread_full(context):
        ran = thread_share(context) or 0.0
        return f"had more work than one thread can do: its busiest ran for {ran:.0%} of the time"
    share = busy_share(context)
    busy = f" {share:.0%}" if share is not None else ""
    count = len(context.cores)
    cores = f"{count} CPUs were{busy} busy" if count > 1 else f"only CPU was{busy} busy"
    return f"had more work than there was CPU time: its {cores} with requests"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    where = f"admit fewer requests at once (a limit before {context.entry}), or"
    if thread_full(context):
        more = f"share {context.subject}'s work out to several, or have it do less for a request"
        return [Remedy(change=f"{where} {more}", expected=EXPECTED)]
    return [
        Remedy(
            change=f"{where} give "
            f"{busiest(context).subject}, which uses most, more CPUs or cheaper requests",
            expected=EXPECTED,
        )
    ]


CAUSE = Cause(
    NAME,
    "demand beyond the CPUs' capacity",
    judge,
    happened,
    remedies,
    leading=None,
    stands_alone=lambda _context: False,
    # Work that takes longer keeps its connections, locks and workers for longer.
    explains=frozenset({"pool", "lock"}),
    by_chance=_by_chance,
)
