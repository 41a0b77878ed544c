"""Stalls: stretches of time in which one server kept several requests waiting at once.

They are made of the long gaps of :mod:`tierlab.analysis.queues.own_gaps`, so each is the server's
own and needs no comparison of queues. Gaps that a page always has (a slow search) are no stall.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Bools, Floats, Ints
from tierlab.analysis.queues.own_gaps import Gaps
from tierlab.diagnosis.finding import Window

USERS = "users"
"""Who waits for a connection to a first server, as if they were a server: those of each first
server are called after it. It stands for the way to it.
"""


def users_of(entry: str) -> str:
    """Return what the users of a first server are called."""
    return f"{entry}.{USERS}"


def asked_by(users: str) -> str | None:
    """Return the first server that these users ask; None for a server, which is none."""
    entry, _, name = users.rpartition(".")
    return entry if name == USERS and entry else None


LEAST_GAP_NS = 20_000_000
"""A shorter gap in a visit is nobody's trouble."""

UNUSUAL = 3.0
"""A gap must be this many times the visit's usual stay."""

JOIN_NS = 15_000_000
"""Gaps of one server with less than this between them belong together."""

EARLIER_NS = 100_000_000
"""Waits that began so long before those that last twice as long are a stall of their own."""

LONG = 0.5
"""Of the longest gap: those that are as long are what a stall is about."""

WENT_ON = 0.25
"""When such a share of them is over, the stall's core is."""

LONG_NS = 30_000_000
"""The longest gap of a stall lasts at least this long, where two requests waited..."""

ALONE_NS = 90_000_000
"""... and this long where only one did."""


MANY = 5
"""A stall without a known cause is told of from so many that waited on: fewer come by chance."""

LASTING_NS = 100_000_000
"""... and from this length on."""


@dataclass(frozen=True)
class Stall:
    """One server's stall. ``core`` ends when the first quarter of the waiting requests went on.

    ``toward`` gives the share of the waiting in the core that ended with the arrival at each
    callee: who comes when the first go on waits for what had piled up.
    """

    server: str
    window: Window
    core: Window
    waiting: int
    longest_ns: int
    total_ns: int
    toward: dict[str, float]


def stalls(gaps: Gaps) -> list[Stall]:
    """Join the unusual gaps by server and time; in order of their starts."""
    unusual = ~(gaps.length_ns < UNUSUAL * gaps.usual_ns)
    gaps = gaps.of(unusual & (gaps.length_ns >= LEAST_GAP_NS))
    found = []
    for server in sorted(set(gaps.server)):
        mine = gaps.of(gaps.server == server)
        reach = np.maximum.accumulate(mine.end_ns)
        breaks = np.flatnonzero(mine.start_ns[1:] > reach[:-1] + JOIN_NS) + 1
        for places in np.split(np.arange(len(mine.start_ns)), breaks):
            for part in _waves(mine, places):
                if _is_known(str(server), mine.usual_ns[part]):
                    found.append(_stall(str(server), mine, part))
    lasting = [each for each in found if _counts(each)]
    return sorted(lasting, key=lambda each: (each.window.start_ns, each.server))


def _waves(gaps: Gaps, places: Ints) -> Iterator[Ints]:
    """Part the gaps that overlap: those long before the first of the long ones are what these
    piled up behind.
    """
    while places.size:
        start, length = gaps.start_ns[places], gaps.length_ns[places]
        first_ns = start[_is_long(length)].min()
        early = start < first_ns
        if not early.any() or first_ns - start.min() < EARLIER_NS:
            yield places
            return
        yield places[~early]
        places = places[early]


def _is_long(length_ns: Ints) -> Bools:
    found: Bools = length_ns >= LONG * length_ns.max()
    return found


def stands_out(stall: Stall) -> bool:
    """Say whether it is too long, for too many, to be passed over where no cause is known."""
    return stall.waiting >= MANY and stall.longest_ns >= LASTING_NS


def _counts(stall: Stall) -> bool:
    return stall.longest_ns >= (LONG_NS if stall.waiting > 1 else ALONE_NS)


def _is_known(server: str, usual_ns: Floats) -> bool:
    """Say whether it is known of anyone who waited how long that usually takes; nobody knows of few
    requests of a page, and of waits for a connection none is usual.
    """
    ways = asked_by(server) is not None
    return ways or usual_ns.size >= MANY or bool(np.isfinite(usual_ns).any())


def _stall(server: str, gaps: Gaps, places: Ints) -> Stall:
    start, end = gaps.start_ns[places], gaps.end_ns[places]
    length = end - start
    long = _is_long(length)
    first, last = int(start[long].min()), int(end.max())
    core_end = int(np.quantile(end[long], WENT_ON, method="lower"))
    core = Window(start_ns=first, end_ns=max(core_end, first + 1))
    return Stall(
        server=server,
        window=Window(start_ns=first, end_ns=last),
        core=core,
        waiting=len(places),
        longest_ns=int(length.max()),
        total_ns=int(length.sum()),
        toward=_toward(gaps.of(places), core),
    )


def _toward(gaps: Gaps, core: Window) -> dict[str, float]:
    within = np.minimum(gaps.end_ns, core.end_ns) - np.maximum(gaps.start_ns, core.start_ns)
    waited = np.maximum(within, 0)
    return {
        str(callee): float(waited[gaps.callee == callee].sum() / waited.sum())
        for callee in sorted({*gaps.callee} - {""})
    }
