"""Who called whom, and how far is each tier from the users?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Ints, batches, bounds, row, rows
from tierlab.analysis.served_from import STAY_NS
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
            FROM (SELECT server, {STAY_NS} AS stay_ns,
                coalesce(departure_ns {IN_SPAN}, false) AS left_here FROM visits)
            GROUP BY server ORDER BY server""",
        bounds(span),
    )
    return [Stays(**each) for each in found]


def calls(db: Connection, span: Span, servers: list[str]) -> list[Call]:
    """Return who called whom, from the linked visits: one row a pair of ``servers``.

    A call counts until its caller's reply ended: what a thread calls for after that is none of the
    caller's time. Only links by thread lead to such calls, all others are within their callers. A
    caller is looked up by its visit's number, batch by batch: half the time of a join of millions
    of visits with themselves, and none of its memory.
    """
    server = "list_position($servers::VARCHAR[], server)::USMALLINT"
    numbers = row(db, "SELECT min(visit) AS low, max(visit) AS high FROM visits", {})
    callers = _Numbered(numbers["low"] or 0, numbers["high"] or 0, np.uint16)
    replies: _Numbered | None = None
    if rows(db, "SELECT 1 FROM visits WHERE link = 'thread' LIMIT 1", {}):
        replies = _Numbered(numbers["low"] or 0, numbers["high"] or 0, np.int64)
    departure = "" if replies is None else ", departure_ns"
    for batch in batches(
        db,
        f"SELECT visit, {server} AS server{departure} FROM visits WHERE departure_ns {IN_SPAN}",
        {**bounds(span), "servers": servers},
    ):
        callers.add(batch["visit"], batch["server"])
        if replies is not None:
            replies.add(batch["visit"], batch["departure_ns"])
    size = len(servers) + 1
    count, total_ns = np.zeros(size * size, dtype=np.int64), np.zeros(size * size)
    for batch in batches(
        db,
        f"""SELECT parent, {server} AS server, {STAY_NS} AS stay_ns{departure} FROM visits
            WHERE parent IS NOT NULL AND departure_ns IS NOT NULL""",
        {"servers": servers},
    ):
        stay_ns = batch["stay_ns"]
        if replies is not None:
            after_ns = np.maximum(batch["departure_ns"] - replies.of(batch["parent"]), 0)
            stay_ns = np.maximum(stay_ns - after_ns, 0)
        pair = callers.of(batch["parent"]).astype(np.int64) * size + batch["server"]
        count += np.bincount(pair, minlength=size * size)
        total_ns += np.bincount(pair, stay_ns, minlength=size * size)
    found = [
        Call(servers[at // size - 1], servers[at % size - 1], int(count[at]), int(total_ns[at]))
        for at in np.flatnonzero(count).tolist()
        if at >= size
    ]
    return sorted(found, key=lambda each: (each.caller, each.callee))


class _Numbered:
    """A value of each visit by the visit's number: a table of all numbers from the least to the
    highest, since tracers number visits one after another.
    """

    def __init__(self, low: int, high: int, kind: type[np.integer[Any]]) -> None:
        self._low = low
        self._table = np.zeros(high - low + 1, dtype=kind)

    def add(self, visit: Ints, value: Ints) -> None:
        """Keep the ``value`` of each ``visit``."""
        self._table[visit - self._low] = value

    def of(self, visit: Ints) -> Ints:
        """Return each visit's value; 0 where it was not kept."""
        place = visit - self._low
        inside = (place >= 0) & (place < self._table.size)
        found: Ints = np.where(inside, self._table[np.where(inside, place, 0)], 0)
        return found
