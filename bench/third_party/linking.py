"""Which calls below the entry have a parent, by what means, and whether it is the right one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

import duckdb
import pandas as pd
from counting import window

from tierlab.tables import manifest as manifests

CLOCK_NS = 50_000
"""A caller's request may be stamped this much after the call that it made: packets of two
connections are read by two CPUs."""


@dataclass
class Links:
    """The calls of one server, from others of the system.

    ``means`` counts them by how their parent was found, ``none`` among them. Where one request was
    under way at a time, its caller is the one visit that was going on: ``certain`` counts the
    calls for which there is exactly one such visit, ``right`` those that have it as their parent,
    ``wrong`` those that have another, and ``outside`` those made while no caller was at work, of
    which ``invented`` have a parent that was not the last one at work.
    """

    server: str
    calls: int = 0
    means: dict[str, int] = field(default_factory=dict)
    certain: int = 0
    right: int = 0
    wrong: int = 0
    outside: int = 0
    invented: int = 0

    @property
    def right_share(self) -> float | None:
        """Share of the certain calls that have the right parent; None without such calls."""
        return self.right / self.certain if self.certain else None


def links(run: Path, one_at_a_time: bool) -> list[Links]:
    """Return how each server below the entry was linked, while the load was on."""
    callers: dict[str, set[str]] = {}
    for call in manifests.read(run).calls or ():
        callers.setdefault(call.callee, set()).add(call.caller)
    load = window(run)
    visits = duckdb.execute(
        """SELECT visit, server, arrival_ns, parent, link,
        coalesce(departure_ns, closed_ns, request_end_ns) AS end_ns
        FROM read_parquet($file) WHERE arrival_ns BETWEEN $begin AND $end ORDER BY arrival_ns""",
        {"file": str(run / "visits.parquet"), "begin": load.begin_ns, "end": load.end_ns},
    ).df()
    return [
        _of_server(visits, server, callers[server], one_at_a_time)
        for server in sorted(set(visits.server) & set(callers))
    ]


def _of_server(visits: pd.DataFrame, server: str, callers: set[str], one_at_a_time: bool) -> Links:
    calls = visits[visits.server == server]
    found = Links(server, len(calls))
    found.means.update(Counter("none" if pd.isna(each) else str(each) for each in calls.link))
    if one_at_a_time:
        judge(found, calls, visits[visits.server.isin(callers)])
    return found


def judge(found: Links, calls: pd.DataFrame, above: pd.DataFrame) -> None:
    """Hold each call's parent against the one visit that was going on above. One made while none
    was is what the last one to be over left behind, or nobody's.
    """
    over = -1
    later = _rows(above[["visit", "arrival_ns", "end_ns"]])[::-1]
    there: list[list[int]] = []
    for at, parent in _rows(calls[["arrival_ns", "parent"]]):
        while later and later[-1][1] - CLOCK_NS <= at:
            there.append(later.pop())
        over = max((each for each in there if each[2] < at), key=itemgetter(2), default=[over])[0]
        there = [each for each in there if each[2] >= at]
        under_way = [visit for visit, *_ in there]
        if not under_way:
            found.outside += 1
            found.invented += parent not in (-1, over)
        elif len(under_way) == 1:
            found.certain += 1
            found.right += parent == under_way[0]
            found.wrong += parent >= 0 and parent != under_way[0]


def _rows(columns: pd.DataFrame) -> list[list[int]]:
    """Return whole numbers; what is null is -1, which is no visit."""
    rows: list[list[int]] = columns.fillna(-1).astype("int64").to_numpy().tolist()
    return rows


def by_means(every: list[Links]) -> Mapping[str, float]:
    """Return the share of all calls below the entry by how their parent was found."""
    total = sum(each.calls for each in every)
    means = sum((Counter(each.means) for each in every), Counter[str]())
    return {name: count / total for name, count in means.most_common()} if total else {}
