"""Who called whom, and how far is each tier from the users?"""

from dataclasses import dataclass

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.span import Span


@dataclass(frozen=True)
class Stays:
    """The visits that left one server in the span: how many, and their lengths' sum."""

    server: str
    count: int
    total_ns: int


@dataclass(frozen=True)
class Call:
    """Visits of ``callee`` whose parent is a visit of ``caller`` that left in the span."""

    caller: str
    callee: str
    count: int
    total_ns: int


def stays(db: Connection, span: Span) -> list[Stays]:
    """Sum up the visits by server; a server that none left in the span is there with a zero."""
    found = rows(
        db,
        f"""SELECT server, count(*) FILTER (WHERE left_here) AS count,
            coalesce(sum(stay_ns) FILTER (WHERE left_here), 0)::BIGINT AS total_ns
            FROM (SELECT server, departure_ns - arrival_ns AS stay_ns,
                coalesce(departure_ns {IN_SPAN}, false) AS left_here FROM visits)
            GROUP BY server ORDER BY server""",
        bounds(span),
    )
    return [Stays(**each) for each in found]


def calls(db: Connection, span: Span, servers: list[str]) -> list[Call]:
    """Return who called whom, from the linked visits: one row a pair of ``servers``.

    The join carries a server's number, not its name: that halves its time on millions of visits.
    """
    found = rows(
        db,
        f"""WITH stays AS (
            SELECT visit, parent, list_position($servers::VARCHAR[], server)::USMALLINT AS server,
                arrival_ns, departure_ns FROM visits
        ) SELECT caller.server AS caller, callee.server AS callee, count(*) AS count,
            sum(callee.departure_ns - callee.arrival_ns)::BIGINT AS total_ns
            FROM stays AS callee JOIN stays AS caller ON callee.parent = caller.visit
            WHERE caller.departure_ns {IN_SPAN} AND callee.departure_ns IS NOT NULL
            GROUP BY ALL ORDER BY ALL""",
        {**bounds(span), "servers": servers},
    )
    return [
        Call(
            servers[each["caller"] - 1],
            servers[each["callee"] - 1],
            each["count"],
            each["total_ns"],
        )
        for each in found
    ]


def depths(tiers: set[str], edges: set[tuple[str, str]]) -> dict[str, int]:
    """Return each tier's distance from the users: the longest chain of ``edges`` (caller, callee)
    that leads to it. Edges that lead back (a tier that calls itself) count for nothing.
    """
    depth = dict.fromkeys(tiers, 0)
    for _ in tiers:
        for caller, callee in edges:
            if caller != callee and depth[caller] + 1 < len(tiers):
                depth[callee] = max(depth[callee], depth[caller] + 1)
    return depth
