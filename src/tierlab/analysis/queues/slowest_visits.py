"""Which visits of users' requests took longest, and what did they and those below them wait for?"""

from collections.abc import Sequence
from typing import Any, Final

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.queues.waits import PARTS, Part
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

REQUESTS: Final = 3
"""So many of the slowest are shown."""

VISITS: Final = 15
"""So many visits of each are shown: the longest."""

DEEPEST: Final = 12
"""Calls are followed so far down at most: links may lead back."""

_COLUMNS = f"""visit, parent, server, label, arrival_ns, departure_ns,
    cpu_ns IS NOT NULL AS measured, {", ".join(f"{name}_ns" for name in PARTS)}"""


class VisitSpan(Result):
    """A visit on the time axis of the request that it belongs to.

    ``from_s`` and ``to_s`` count from that request's arrival at the first server and lie within its
    visit there; ``took_s`` is the whole stay, which may last longer. ``depth`` is 0 for the first
    server. ``parts`` is empty where the visit has none.
    """

    server: str
    label: str
    depth: int
    from_s: float
    to_s: float
    took_s: float
    parts: list[Part]


class SlowVisit(Result):
    """One of the slowest visits at the servers that users call: ``visits`` are that one and those
    below it, in the order of their arrivals; ``left_out`` were shorter than all of these.
    """

    arrival_ns: int
    took_s: float
    visits: list[VisitSpan]
    left_out: int


def slowest_visits(db: Connection, span: Span, entries: Sequence[str]) -> list[SlowVisit]:
    """Return the slowest visits that left one of the ``entries`` in the span, slowest first."""
    roots = rows(
        db,
        f"""SELECT {_COLUMNS} FROM visits
            WHERE departure_ns {IN_SPAN} AND list_contains($entries::VARCHAR[], server)
            ORDER BY departure_ns - arrival_ns DESC, visit LIMIT {REQUESTS}""",
        {**bounds(span), "entries": list(entries)},
    )
    trees = {each["visit"]: [each | {"depth": 0}] for each in roots}
    root_of = {each["visit"]: each["visit"] for each in roots}
    level = list(root_of)
    for depth in range(1, DEEPEST):
        found = rows(
            db,
            f"""SELECT {_COLUMNS} FROM visits
                WHERE departure_ns IS NOT NULL
                AND parent IN (SELECT unnest($level::BIGINT[])) ORDER BY arrival_ns, visit""",
            {"level": level},
        )
        found = [each for each in found if each["visit"] not in root_of]
        if not found:
            break
        for each in found:
            root_of[each["visit"]] = root_of[each["parent"]]
            trees[root_of[each["parent"]]].append(each | {"depth": depth})
        level = [each["visit"] for each in found]
    return [_slow(tree) for tree in trees.values()]


def _slow(tree: list[dict[str, Any]]) -> SlowVisit:
    root, *below = tree
    below.sort(key=lambda each: each["arrival_ns"] - each["departure_ns"])
    shown = sorted(below[: VISITS - 1], key=lambda each: (each["arrival_ns"], each["depth"]))
    return SlowVisit(
        arrival_ns=root["arrival_ns"],
        took_s=(root["departure_ns"] - root["arrival_ns"]) / 1e9,
        visits=[_span(each, root) for each in (root, *shown)],
        left_out=len(below) - len(shown),
    )


def _span(visit: dict[str, Any], root: dict[str, Any]) -> VisitSpan:
    took_ns = visit["departure_ns"] - visit["arrival_ns"]
    known = [(name, visit[f"{name}_ns"]) for name in PARTS] if visit["measured"] else []

    def within(t_ns: int) -> float:
        """Seconds since the request's arrival, until its reply at most."""
        first, last = int(root["arrival_ns"]), int(root["departure_ns"])
        return (min(max(t_ns, first), last) - first) / 1e9

    return VisitSpan(
        server=visit["server"],
        label=visit["label"] or "",
        depth=visit["depth"],
        from_s=within(visit["arrival_ns"]),
        to_s=within(visit["departure_ns"]),
        took_s=took_ns / 1e9,
        parts=[
            Part(
                name=name,
                mean_s=None if spent is None else spent / 1e9,
                share=None if spent is None or not took_ns else spent / took_ns,
            )
            for name, spent in known
        ],
    )
