"""Which requests took very long, and when did they begin?"""

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Ints, bounds, columns, row
from tierlab.analysis.responses import FAILED, RESPONSE_NS
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

THRESHOLD_S = 2.0
_SECOND_NS = 1_000_000_000


class Cluster(Result):
    """Very long requests that began in seconds without a gap between them."""

    start_ns: int
    end_ns: int
    count: int


class VeryLong(Result):
    """The very long response time (VLRT) requests of the span, failed ones among them.

    ``retried`` were sent by the driver more than once; a SYN that the kernel sent again is none.
    """

    threshold_s: float
    count: int
    share: float
    failed: int
    retried: int
    clusters: list[Cluster]


def very_long(db: Connection, span: Span, threshold_s: float = THRESHOLD_S) -> VeryLong | None:
    """Find the requests that ended in the span after ``threshold_s``; None without requests."""
    parameters = {**bounds(span), "threshold": round(threshold_s * 1e9)}
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
    return VeryLong(
        threshold_s=threshold_s,
        count=total["count"],
        share=total["count"] / total["requests"],
        failed=total["failed"],
        retried=total["retried"],
        clusters=_clusters(seconds["second"], seconds["count"], span),
    )


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
