"""Which long gaps belong to a slow path that requests of their label always take now and then?

A cache's misses beside its hits, one address for all of an application's queries (`POST /graphql`):
of such a label the median is that of the quick ones, and each slow one would be a stall. It is none
if there are slow ones in most of the seconds in which the label is asked for, and the others, that
came while one was served, were served as quickly as ever. Who holds up a server holds up those.
"""

from collections.abc import Callable, Iterator

import numpy as np

from tierlab.analysis.query import Bools, Connection, Ints, columns
from tierlab.analysis.queues.own_gaps import Gaps
from tierlab.analysis.served_from import SERVED_FROM_NS
from tierlab.diagnosis.stalls import ALONE_NS, UNUSUAL

SECOND_NS = 1_000_000_000
FEWEST_SECONDS = 10
MOSTLY = 0.5
"""The share of a label's seconds with a slow one, from which on it is usual."""

FEW, FEWEST = 3, 20
"""Of fewer requests that came during one gap, or during several together, it cannot be told whether
they were served."""

PASSED_BY = 0.75
"""Of those that came meanwhile so many are quick, over the share that is quick at any time."""

Visits = Callable[[str, str], tuple[Ints, Ints]]
"""A server's visits of a label: when each came, in order, and how long it stayed."""


def on_slow_paths(gaps: Gaps, visits: Visits) -> Bools:
    """Say of each gap whether it is as long as one of its label's slow path, and one of it."""
    found = np.zeros(len(gaps.start_ns), dtype=bool)
    slow = (gaps.length_ns >= ALONE_NS) & (gaps.length_ns >= UNUSUAL * gaps.usual_ns)
    for server, label in _frequent(gaps.of(slow)):
        mine = np.flatnonzero((gaps.server == server) & (gaps.label == label))
        came_ns, stay_ns = visits(server, label)
        passed = mine[_passed_by(gaps.of(mine), came_ns, stay_ns)]
        path = gaps.of(passed[slow[passed]])
        if len({*_seconds(path.start_ns)}) > MOSTLY * len({*_seconds(came_ns)}):
            times = gaps.length_ns[passed] / np.median(path.length_ns)
            found[passed[(times > 1 / UNUSUAL) & (times < UNUSUAL)]] = True
    return found


def visits_of(db: Connection) -> Visits:
    """Return who reads a server's visits."""

    def read(server: str, label: str) -> tuple[Ints, Ints]:
        found = columns(
            db,
            f"""SELECT a, d - a AS stay FROM (
                SELECT greatest({SERVED_FROM_NS}, request_end_ns) AS a, departure_ns AS d
                FROM visits WHERE server = $server AND label = $label AND departure_ns IS NOT NULL
            ) ORDER BY a""",
            {"server": server, "label": label},
        )
        return found["a"].astype(np.int64), found["stay"].astype(np.int64)

    return read


def requests_of_page(db: Connection, asked: str) -> Visits:
    """Return who reads the users' requests for a page; ``asked`` is their table in SQL."""

    def read(_users: str, page: str) -> tuple[Ints, Ints]:
        found = columns(
            db,
            f"""SELECT intended_ns AS a, end_ns - intended_ns AS stay FROM {asked}
                WHERE interaction = $page AND end_ns IS NOT NULL ORDER BY a""",
            {"page": page},
        )
        return found["a"].astype(np.int64), found["stay"].astype(np.int64)

    return read


def _frequent(slow: Gaps) -> Iterator[tuple[str, str]]:
    """Yield the servers and labels with slow ones in enough seconds to look into them."""
    pairs = zip(slow.server.tolist(), slow.label.tolist(), strict=True)
    seconds = {(*pair, at) for pair, at in zip(pairs, _seconds(slow.start_ns), strict=True)}
    counts: dict[tuple[str, str], int] = {}
    for server, label, _ in seconds:
        counts[server, label] = counts.get((server, label), 0) + 1
    yield from sorted(pair for pair, count in counts.items() if count >= FEWEST_SECONDS)


def _seconds(t_ns: Ints) -> list[int]:
    found: list[int] = (t_ns // SECOND_NS).tolist()
    return found


def _passed_by(gaps: Gaps, came_ns: Ints, stay_ns: Ints) -> Bools:
    """Say of each gap of a label whether those that came meanwhile were served as ever; of all
    gaps together where too few came in each.
    """
    quick_ns = int(UNUSUAL * gaps.usual_ns[0])
    is_quick = stay_ns < quick_ns
    meanwhile = np.stack([gaps.start_ns, np.maximum(gaps.end_ns - quick_ns, gaps.start_ns)])
    came, quick = (
        np.diff(np.searchsorted(each, meanwhile), axis=0)[0]
        for each in (came_ns, came_ns[is_quick])
    )
    least = PASSED_BY * is_quick.mean()
    few = came < FEW
    together = came[few].sum() >= FEWEST and quick[few].sum() >= least * came[few].sum()
    found: Bools = np.where(few, together, quick >= least * came)
    return found
