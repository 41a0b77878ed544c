"""From when on did a request take very long, which did, and when did they begin?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Ints, bounds, columns, row
from tierlab.analysis.requests import distribution
from tierlab.analysis.requests.distribution import Distribution
from tierlab.analysis.requests.modes import modes
from tierlab.analysis.requests.responses import FAILED, RESPONSE_NS
from tierlab.analysis.requests.slow_requests import threshold
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.manifest import VeryLong as Setting

Origin = Literal["setting", "valley", "default"]
_SECOND_NS = 1_000_000_000
_UNFINISHED = "end_ns >= $end AND $end - intended_ns > $threshold"


@dataclass(frozen=True)
class Threshold:
    """From when on a request took very long, and what says so."""

    seconds: float
    origin: Origin


def chosen_threshold(db: Connection, span: Span, setting: Setting) -> Threshold:
    """Return what the experiment sets; where that is the valley of the span's response times and
    they have none, the default.
    """
    if not setting.valley:
        return Threshold(setting.threshold_ns / 1e9, "setting")
    return Threshold(*threshold(modes(db, span)))


class Cluster(Result):
    """Very long requests that began in seconds without a gap between them."""

    start_ns: int
    end_ns: int
    count: int


class VeryLong(Result):
    """The very long response time (VLRT) requests of the span, failed ones among them.

    ``threshold_from`` says whether the threshold is the experiment's setting, the valley of the
    response times, or the default where they were to have a valley and have none.
    ``retried`` were sent by the driver more than once; a SYN that the kernel sent again is none.
    ``unfinished`` are in none of these figures: they had taken longer when the span ended, and had
    no reply; ``unfinished_failed`` of them never had a good one. ``at_least`` are the response
    times of the successful requests with theirs, as long as they had taken by then; None without
    such.
    """

    threshold_s: float
    threshold_from: Origin
    count: int
    share: float
    failed: int
    retried: int
    clusters: list[Cluster]
    unfinished: int = 0
    unfinished_failed: int = 0
    at_least: Distribution | None = None


def very_long(db: Connection, span: Span, over: Threshold) -> VeryLong | None:
    """Find the requests that ended in the span and took longer; None without requests."""
    parameters = {**bounds(span), "threshold": round(over.seconds * 1e9)}
    total = row(
        db,
        f"""SELECT count(*) AS requests, count(*) FILTER (WHERE slow) AS count,
            count(*) FILTER (WHERE slow AND failed) AS failed,
            count(*) FILTER (WHERE slow AND attempts > 1) AS retried
            FROM (SELECT {RESPONSE_NS} > $threshold AS slow, {FAILED} AS failed, attempts
                FROM requests WHERE end_ns {IN_SPAN})""",
        parameters,
    )
    if not total["requests"]:
        return None
    seconds = columns(
        db,
        f"""SELECT floor((intended_ns - $start) / {_SECOND_NS})::BIGINT AS second, count(*) AS count
            FROM requests WHERE end_ns {IN_SPAN} AND {RESPONSE_NS} > $threshold
            GROUP BY second ORDER BY second""",
        parameters,
    )
    waiting = _unfinished(db, parameters)
    return VeryLong(
        threshold_s=over.seconds,
        threshold_from=over.origin,
        count=total["count"],
        share=total["count"] / total["requests"],
        failed=total["failed"],
        retried=total["retried"],
        clusters=_clusters(seconds["second"], seconds["count"], span),
        at_least=_at_least(db, parameters) if waiting["unfinished"] else None,
        **waiting,
    )


def _unfinished(db: Connection, parameters: Mapping[str, object]) -> dict[str, int]:
    which = {name: parameters[name] for name in ("end", "threshold")}
    return row(
        db,
        f"""SELECT count(*) AS unfinished, count(*) FILTER (WHERE {FAILED}) AS unfinished_failed
            FROM requests WHERE {_UNFINISHED}""",
        which,
    )


def _at_least(db: Connection, parameters: Mapping[str, object]) -> Distribution | None:
    took = row(
        db,
        f"""SELECT {distribution.aggregates("took_ns")} FROM (
                SELECT {RESPONSE_NS} AS took_ns FROM requests
                WHERE end_ns {IN_SPAN} AND NOT {FAILED}
                UNION ALL SELECT $end - intended_ns FROM requests WHERE {_UNFINISHED})""",
        parameters,
    )
    return distribution.from_row(took)


def _clusters(second: Ints, count: Ints, span: Span) -> list[Cluster]:
    """Join seconds that follow each other. A request may have begun before the span did."""
    if not len(second):
        return []
    breaks = np.flatnonzero(np.diff(second) > 1) + 1
    return [
        Cluster(
            start_ns=span.start_ns + int(seconds[0]) * _SECOND_NS,
            end_ns=span.start_ns + (int(seconds[-1]) + 1) * _SECOND_NS,
            count=int(counts.sum()),
        )
        for seconds, counts in zip(np.split(second, breaks), np.split(count, breaks), strict=True)
    ]
