"""What did the servers themselves count of the visits that they were busy with?

Little's law says nothing new of a queue length that was added up from the very stays that it is
compared with. A server's own count does: how many of its worker threads are busy, how many of its
connections have a statement under way. It is read some times a second, and not from messages.

A busy worker has a visit, but a visit may have to wait until a worker has read its request: the
server counts at most as many. Where it counts more, visits were not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Connection, Floats, Ints, bounds, columns
from tierlab.analysis.queues.in_progress import InProgress
from tierlab.analysis.span import Span

_COUNTS = """SELECT subject, t_ns, dt_ns, in_use::DOUBLE AS busy FROM soft
        WHERE resource = 'threads' AND in_use IS NOT NULL
    UNION ALL SELECT subject, t_ns, dt_ns, threads_running::DOUBLE FROM database
        WHERE threads_running IS NOT NULL"""
"""Each kind of count, as SQL: busy worker threads, connections with a statement under way."""

LATE = 1.5
"""A server that stands still does not count: what lies before a reading that came later than so
many usual intervals was not counted."""

FEWEST = 30
_BATCH_NS = 1_000_000_000


@dataclass(frozen=True)
class BusyWorkers:
    """A server's mean count, and the mean queue length by its visits in the same intervals (the
    visits' time per time, which is X·R); ``error`` is the standard error of their difference.
    """

    counted: float
    by_visits: float
    error: float
    readings: int


def busy_workers(
    db: Connection, span: Span, progress: Mapping[str, InProgress]
) -> dict[str, BusyWorkers]:
    """Return the servers that counted their busy workers often enough in the span."""
    found = columns(
        db,
        f"SELECT * FROM ({_COUNTS}) WHERE t_ns - dt_ns >= $start AND t_ns < $end ORDER BY t_ns",
        bounds(span),
    )
    result = {}
    for name in sorted(set(found["subject"]) & progress.keys()):
        mine = found["subject"] == name
        compared = _compared(
            found["t_ns"][mine], found["dt_ns"][mine], found["busy"][mine], progress[name]
        )
        if compared is not None:
            result[str(name)] = compared
    return result


def _compared(t_ns: Ints, dt_ns: Ints, busy: Floats, progress: InProgress) -> BusyWorkers | None:
    in_time = dt_ns <= LATE * np.median(dt_ns)
    t_ns, dt_ns, busy = t_ns[in_time], dt_ns[in_time], busy[in_time]
    if t_ns.size < FEWEST:
        return None
    edge_ns = np.unique(np.concatenate([t_ns - dt_ns, t_ns]))
    mean = progress.mean(edge_ns)
    held = np.array([0.0, *np.cumsum(mean * np.diff(edge_ns))])
    at = np.searchsorted(edge_ns, [t_ns - dt_ns, t_ns])
    by_visits = (held[at[1]] - held[at[0]]) / dt_ns
    return BusyWorkers(
        counted=float(busy.mean()),
        by_visits=float(by_visits.mean()),
        error=_error(busy - by_visits, (t_ns - t_ns[0]) // _BATCH_NS),
        readings=int(t_ns.size),
    )


def _error(difference: Floats, batch: Ints) -> float:
    """The standard error of a mean of neighbours that depend on each other: by batch means."""
    _, at = np.unique(batch, return_inverse=True)
    means = np.bincount(at, difference) / np.bincount(at)
    return float(means.std(ddof=1) / np.sqrt(means.size)) if means.size > 1 else float("inf")
