"""When did things happen? Events that follow each other closely, joined into stretches of time."""

import numpy as np

from tierlab.analysis.event_counts import INCIDENT
from tierlab.analysis.query import IN_SPAN, Connection, bounds, columns
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

GAP_NS = 200_000_000
MOST = 400


class Episode(Result):
    """Events of one kind without a longer gap than ``gap_ns`` between them."""

    kind: str
    start_ns: int
    end_ns: int
    count: int


def episodes(db: Connection, span: Span, gap_ns: int = GAP_NS) -> list[Episode]:
    """Join the span's events by kind, in order of time; what is no incident is left out.

    The gap grows until no kind has more than 400 episodes, as more could not be told apart.
    """
    found = columns(
        db,
        f"""SELECT kind, t_ns, t_ns + duration_ns AS end_ns FROM events
            WHERE {INCIDENT} AND t_ns {IN_SPAN} ORDER BY kind, t_ns""",
        bounds(span),
    )
    joined = []
    for kind in sorted(set(found["kind"])):
        mine = found["kind"] == kind
        start, end = found["t_ns"][mine], np.maximum.accumulate(found["end_ns"][mine])
        gaps = start[1:] - end[:-1]
        limit = gap_ns
        while np.count_nonzero(gaps > limit) >= MOST:
            limit *= 2
        first = np.append(0, np.flatnonzero(gaps > limit) + 1)
        last = np.append(first[1:], start.size) - 1
        joined += [
            Episode(
                kind=str(kind), start_ns=int(start[a]), end_ns=int(end[b]), count=int(b - a + 1)
            )
            for a, b in zip(first, last, strict=True)
        ]
    return sorted(joined, key=lambda each: (each.start_ns, each.kind))
