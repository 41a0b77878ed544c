"""Events of table `counters` over time: by PU, by domain, and as ratios of each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Floats, Ints, bounds, columns, rows
from tierlab.analysis.requests.responses import FAILED
from tierlab.analysis.span import Span
from tierlab.tables.profile import WHOLE

IDLE = "idle"
"""The domain of PUs that nobody wanted."""
CLOCKS = ("cpu-clock", "task-clock")
"""Events that are nanoseconds."""
SECOND_NS = 1_000_000_000
"""What is sampled is told by the second: within a tick there are a few samples at most."""

Of = Literal["cpu", "domain"]


@dataclass(frozen=True)
class EventKind:
    """An event as one source counted it; ``whole`` where that was at every tick."""

    event: str
    source: str
    whole: bool

    @property
    def is_miss(self) -> bool:
        """Whether an instruction had to wait for it."""
        return self.event.endswith("misses")


@dataclass(frozen=True)
class Rate:
    """What a subject had of it a second, or for each of something else, at the middle of every tick
    or second.
    """

    subject: str
    t_ns: Ints
    value: Floats


def counts_of_all() -> str:
    """The rows of `counters` that add up to all events of the span, once each, as SQL; use with
    :func:`tierlab.analysis.query.bounds`. Those of idle PUs are left out.
    """
    return f"""(SELECT * FROM (
        SELECT *, {WHOLE} AS whole, bool_or({WHOLE}) OVER (PARTITION BY event, source) AS is_whole
        FROM counters WHERE t_ns {IN_SPAN} AND domain <> '{IDLE}') WHERE whole = is_whole)"""


def event_kinds(db: Connection, span: Span) -> list[EventKind]:
    """Return what was counted in the span, but time, which the samplers tell as well."""
    found = rows(
        db,
        f"""SELECT event, source, bool_or({WHOLE}) AS whole FROM counters
            WHERE t_ns {IN_SPAN} AND domain <> '{IDLE}' AND event NOT IN {CLOCKS}
            GROUP BY ALL ORDER BY event, source""",
        bounds(span),
    )
    return [EventKind(**each) for each in found]


def rates(db: Connection, span: Span, kind: EventKind, of: Of) -> list[Rate]:
    """Return events a second by PU or by domain."""
    return [
        Rate(subject, found.t_ns, found.value / found.seconds)
        for subject, found in _counts(db, span, kind, of).items()
    ]


def ratios(db: Connection, span: Span, above: EventKind, below: EventKind) -> list[Rate]:
    """Return by domain how many events there were for each of another kind of the same source."""
    over, under = (_counts(db, span, each, "domain") for each in (above, below))
    found = []
    for subject in over.keys() & under.keys():
        t_ns, at, its = np.intersect1d(over[subject].t_ns, under[subject].t_ns, return_indices=True)
        each = under[subject].value[its]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(each > 0, over[subject].value[at] / each, np.nan)
        found.append(Rate(subject, t_ns, value))
    return sorted(found, key=lambda each: each.subject)


def a_request(db: Connection, span: Span, kind: EventKind) -> list[Rate]:
    """Return by domain how many events there were for each request that ended well, by second."""
    done = columns(
        db,
        f"""SELECT (end_ns - $start) // {SECOND_NS} AS second, count(*)::DOUBLE AS done
            FROM requests WHERE end_ns {IN_SPAN} AND NOT {FAILED} GROUP BY ALL ORDER BY ALL""",
        bounds(span),
    )
    found = []
    for subject, counts in _counts(db, span, kind, "domain").items():
        # A tick that ends in the span may have its middle before it.
        second = np.maximum(counts.t_ns - span.start_ns, 0) // SECOND_NS
        events = np.bincount(second, counts.value, minlength=int(second.max(initial=0)) + 1)
        known = done["second"] < events.size
        at = done["second"][known]
        middle = span.start_ns + at * SECOND_NS + SECOND_NS // 2
        found.append(Rate(subject, middle, events[at] / done["done"][known]))
    return found


@dataclass(frozen=True)
class _Counts:
    t_ns: Ints
    seconds: Floats
    value: Floats


def _counts(db: Connection, span: Span, kind: EventKind, of: Of) -> dict[str, _Counts]:
    """By subject, the events of each tick; of each second where they were sampled."""
    middle = f"""CASE WHEN dt_ns > 0 THEN t_ns - dt_ns // 2
        ELSE t_ns - (t_ns - $start) % {SECOND_NS} + {SECOND_NS // 2} END"""
    subject = "'cpu' || cpu" if of == "cpu" else "domain"
    found = columns(
        db,
        f"""SELECT {subject} AS subject, {middle} AS middle, sum(count)::DOUBLE AS value,
                max(CASE WHEN dt_ns > 0 THEN dt_ns ELSE {SECOND_NS} END) / 1e9 AS seconds
            FROM {counts_of_all()}
            WHERE event = $event AND source = $source AND "{of}" IS NOT NULL
            GROUP BY ALL ORDER BY subject, middle""",
        {**bounds(span), "event": kind.event, "source": kind.source},
    )
    subjects = found["subject"].astype(str)
    return {
        str(subject): _Counts(
            *(found[name][subjects == subject] for name in ("middle", "seconds", "value"))
        )
        for subject in np.unique(subjects)
    }
