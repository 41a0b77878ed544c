"""Which long gaps belong to a slow path that requests of their label always take now and then?

A cache's misses beside its hits, one address for all of an application's queries (`POST /graphql`):
of such a label the median is that of the quick ones, and each slow one would be a stall. It is none
if there are slow ones in most of the seconds in which the label is asked for, and the others, that
came while one was served, were served as quickly as ever. Who holds up a server holds up those.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Bools, Connection, Ints, columns
from tierlab.analysis.queues.own_gaps import Gaps
from tierlab.analysis.served_from import SERVED_FROM_NS
from tierlab.diagnosis.stalls import ALONE_NS, UNUSUAL, USERS

SECOND_NS = 1_000_000_000
FEWEST_SECONDS = 10
"""Of a label that is slow in fewer, nothing is usual."""

MOSTLY = 0.5
"""The share of a label's seconds with a slow one, from which on it is usual."""

FEW = 3
"""Of fewer requests that came during one gap it cannot be told whether they were served ..."""

FEWEST = 20
"""... nor of fewer that came during several together."""

PASSED_BY = 0.75
"""Of those that came meanwhile so many are quick, over the share that is quick at any time."""


@dataclass(frozen=True)
class Visits:
    """All visits of a run: a table in SQL of ``server``, ``label``, ``came`` and ``left``."""

    db: Connection
    table: str

    def seconds(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Return in how many seconds a server was asked for a label, of those of these pairs."""
        servers, labels = zip(*pairs, strict=True)
        found = columns(
            self.db,
            f"""SELECT server, label, count(DISTINCT came // {SECOND_NS}) AS count
                FROM {self.table} SEMI JOIN (
                    SELECT unnest($servers) AS server, unnest($labels) AS label
                ) USING (server, label) GROUP BY server, label""",
            {"servers": list(servers), "labels": list(labels)},
        )
        keys = zip(found["server"].tolist(), found["label"].tolist(), strict=True)
        return dict(zip(keys, found["count"].tolist(), strict=True))

    def of(self, server: str, label: str) -> tuple[Ints, Ints]:
        """Return when each of a server's visits of a label came, in order, and how long it
        stayed.
        """
        found = columns(
            self.db,
            f"""SELECT came, "left" - came AS stay FROM {self.table}
                WHERE server = $server AND label = $label ORDER BY came""",
            {"server": server, "label": label},
        )
        return found["came"].astype(np.int64), found["stay"].astype(np.int64)


def visits_of(db: Connection) -> Visits:
    """Return the visits of servers, from when on they are the server's to serve."""
    came = f"greatest({SERVED_FROM_NS}, request_end_ns)"
    return Visits(
        db,
        f"""(SELECT server, label, {came} AS came, departure_ns AS "left" FROM visits
            WHERE departure_ns IS NOT NULL)""",
    )


def requests_of_users(db: Connection, asked: str) -> Visits:
    """Return the users' requests by page, of which there are no visits; ``asked`` is their table
    in SQL.
    """
    return Visits(
        db,
        f"""(SELECT '{USERS}' AS server, interaction AS label, intended_ns AS came,
            end_ns AS "left" FROM {asked} WHERE end_ns IS NOT NULL)""",
    )


def on_slow_paths(gaps: Gaps, visits: Visits) -> Bools:
    """Say of each gap whether it is as long as one of its label's slow path, and one of it."""
    found = np.zeros(len(gaps.start_ns), dtype=bool)
    slow = (gaps.length_ns >= ALONE_NS) & (gaps.length_ns >= UNUSUAL * gaps.usual_ns)
    for (server, label), seconds in _frequent(gaps.of(slow), visits).items():
        mine = np.flatnonzero((gaps.server == server) & (gaps.label == label))
        passed = mine[_passed_by(gaps.of(mine), *visits.of(server, label))]
        path = gaps.of(passed[slow[passed]])
        if len({*_seconds(path.start_ns)}) > MOSTLY * seconds:
            times = gaps.length_ns[passed] / np.median(path.length_ns)
            found[passed[(times > 1 / UNUSUAL) & (times < UNUSUAL)]] = True
    return found


def _frequent(slow: Gaps, visits: Visits) -> dict[tuple[str, str], int]:
    """Return the servers and labels with slow ones in most of the seconds in which they are asked
    for, and in how many these are: all others need not be looked into.
    """
    pairs = zip(slow.server.tolist(), slow.label.tolist(), strict=True)
    moments = {(pair, at) for pair, at in zip(pairs, _seconds(slow.start_ns), strict=True)}
    counts = Counter(pair for pair, _ in moments)
    often = sorted(pair for pair, count in counts.items() if count >= FEWEST_SECONDS)
    asked = visits.seconds(often) if often else {}
    return {pair: asked[pair] for pair in often if counts[pair] > MOSTLY * asked[pair]}


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
