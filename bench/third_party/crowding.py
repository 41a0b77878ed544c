"""Whether links hold with many requests under way.

A request has a connection to its database to itself, as long as it needs it: on each connection the
calls of one request follow each other, with none of another's between them. Wrong parents would
tear them apart, and that needs neither threads nor ids to be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
from counting import window
from linking import Links, links

USERS = ("load.users=200", "load.think=500ms", "load.phases.ramp_up=4s")
LEAST_LINKED = 0.999
MOST_TORN = 0.001


@dataclass(frozen=True)
class Crowd:
    """Calls of a server while many requests were under way at its caller.

    ``under_way`` is the mean of these. Of the calls with a parent, ``torn`` stand on their
    connection between two calls of one other request, or were made outside their parent's time.
    """

    server: str
    under_way: float
    links: Links
    torn: int

    @property
    def linked_share(self) -> float:
        """Share of the calls that have a parent."""
        return 1 - self.links.means.get("none", 0) / self.links.calls if self.links.calls else 0.0

    @property
    def torn_share(self) -> float:
        """Share of the calls with a parent that cannot have it."""
        parents = self.links.calls - self.links.means.get("none", 0)
        return self.torn / parents if parents else 0.0

    @property
    def holds(self) -> bool:
        """Whether nearly all calls have a parent, and nearly none a wrong one."""
        return self.linked_share >= LEAST_LINKED and self.torn_share <= MOST_TORN

    def __str__(self) -> str:
        """Return the figures as a phrase."""
        return (
            f"{self.server}: {self.under_way:.0f} under way, {self.linked_share:.2%} of "
            f"{self.links.calls:,} calls linked, {self.torn_share:.2%} torn"
        )


def crowd(run: Path, caller: str, server: str) -> Crowd:
    """Return how the calls from one server to another are linked while the load was on."""
    load = window(run)
    told = {
        "file": str(run / "visits.parquet"),
        "caller": caller,
        "begin": load.begin_ns,
        "end": load.end_ns,
    }
    [of_server] = [each for each in links(run, one_at_a_time=False) if each.server == server]
    with duckdb.connect() as own:
        under_way = own.execute(
            """SELECT sum(least(coalesce(departure_ns, closed_ns, $end), $end)
                          - greatest(arrival_ns, $begin)) / ($end - $begin)
            FROM read_parquet($file)
            WHERE server = $caller AND arrival_ns < $end
            AND coalesce(departure_ns, closed_ns, $end) > $begin""",
            told,
        ).fetchone()
        torn = own.execute(TORN, {**told, "server": server}).fetchone()
    assert under_way is not None
    assert torn is not None
    return Crowd(server, float(under_way[0] or 0), of_server, int(torn[0]))


TORN = """
    WITH calls AS (
        SELECT c.*, c.arrival_ns < p.arrival_ns - 50000 AS early,
            min(c.arrival_ns) OVER own AS first_ns, max(c.arrival_ns) OVER own AS last_ns
        FROM read_parquet($file) c JOIN read_parquet($file) p ON c.parent = p.visit
        WHERE c.server = $server AND p.server = $caller AND c.arrival_ns BETWEEN $begin AND $end
        WINDOW own AS (PARTITION BY c.connection, c.parent)
    )
    SELECT count(*) FROM calls WHERE early OR EXISTS (
        FROM calls AS other WHERE other.connection = calls.connection
        AND other.parent <> calls.parent
        AND other.first_ns < calls.arrival_ns AND other.last_ns > calls.arrival_ns
    )
"""
