"""Which requests took very long, which were delayed, and in which clusters did they come?

The first step of transient-event analysis in J. Park, "Performance Scalability of N-Tier
Application in Virtualized Cloud Environments" (PhD thesis, Georgia Institute of Technology, 2016),
section 4.3, figure 28: clusters of requests that take seconds instead of milliseconds. A very short
bottleneck also delays requests by less than that; they are told by what the run's own normal gives
for their interaction.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tierlab.analysis.query import IN_SPAN, Bools, Connection, Ints, bounds, columns
from tierlab.analysis.requests.modes import Modes
from tierlab.analysis.requests.responses import RESPONSE_NS
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

THRESHOLD_S = 2.0
"""Very long, where the response times have no valley that says so."""

_VALLEY_FROM_S = 0.3
_VALLEY_MEDIANS = 10.0
LEAST_NS = 30_000_000
"""A request is not delayed by less than this, half of the shortest bottleneck that is sought."""

_DEVIATIONS = 3.0
GAP_NS = 250_000_000


@dataclass(frozen=True)
class Requests:
    """Requests in the order in which they were meant to begin, one an element."""

    intended_ns: Ints
    start_ns: Ints
    end_ns: Ints
    interaction: npt.NDArray[np.object_]
    usual_ns: Ints
    """The median response time of their interaction in this run."""

    @property
    def count(self) -> int:
        """How many there are."""
        return self.end_ns.size

    @property
    def response_ns(self) -> Ints:
        """How long their users waited."""
        return self.end_ns - self.intended_ns

    def of(self, chosen: Bools) -> "Requests":
        """Keep some of them."""
        return Requests(
            self.intended_ns[chosen],
            self.start_ns[chosen],
            self.end_ns[chosen],
            self.interaction[chosen],
            self.usual_ns[chosen],
        )

    def waiting(self, start_ns: int, end_ns: int) -> "Requests":
        """Keep those that were under way at some time of a window."""
        return self.of((self.intended_ns < end_ns) & (self.end_ns > start_ns))


class SlowCluster(Result):
    """Slow requests that began without a longer gap than 250 ms between them.

    It lasts from the first one's beginning to the last one's end.
    """

    start_ns: int
    last_start_ns: int
    end_ns: int
    count: int
    worst_s: float


@dataclass(frozen=True)
class SlowRequests:
    """``very_long`` ones took longer than ``threshold_s``, which a ``valley`` of the response times
    or the ``default`` gave; ``delayed`` ones, the very long among them, longer than normal.
    """

    threshold_s: float
    threshold_from: Literal["valley", "default", "asked"]
    total: int
    very_long: Requests
    delayed: Requests


def slow_requests(
    db: Connection, span: Span, found: Modes | None = None, threshold_s: float | None = None
) -> SlowRequests | None:
    """Find the requests of the span that were slow; None when no request ended in it.

    Failed ones count too: their users waited. ``found`` are the run's modes, where a valley is
    looked for; ``threshold_s`` overrules it.
    """
    seen = columns(
        db,
        f"""WITH seen AS (
            SELECT interaction, intended_ns, start_ns, end_ns, {RESPONSE_NS} AS response
            FROM requests WHERE end_ns {IN_SPAN}
        ), usual AS (
            SELECT interaction, count(*) AS count, median(response) AS half,
                quantile_cont(ln(greatest(response, 1)), 0.75) AS upper
            FROM seen GROUP BY GROUPING SETS ((interaction), ())
        ), everyone AS (SELECT * FROM usual WHERE interaction IS NULL
        ), normal AS (
            SELECT usual.interaction,
                if(usual.count >= 20, usual.half, everyone.half) AS half,
                if(usual.count >= 20, usual.upper, everyone.upper) AS upper
            FROM usual, everyone WHERE usual.interaction IS NOT NULL
        ), judged AS (
            SELECT seen.*, half, response > half + {LEAST_NS} AND ln(greatest(response, 1))
                > ln(greatest(half, 1)) + {_DEVIATIONS} * (upper - ln(greatest(half, 1))) / 0.6745
                AS delayed
            FROM seen JOIN normal USING (interaction)
        ) SELECT intended_ns, start_ns, end_ns, interaction, half::BIGINT AS usual_ns, delayed,
            (SELECT count(*) FROM seen) AS total
        FROM judged WHERE delayed OR response > $least ORDER BY intended_ns, end_ns""",
        {**bounds(span), "least": round((threshold_s or _VALLEY_FROM_S) * 1e9)},
    )
    if not seen["total"].size and not _any(db, span):
        return None
    chosen: tuple[float, Literal["valley", "default", "asked"]] = threshold(found)
    if threshold_s is not None:
        chosen = (threshold_s, "asked")
    slow = Requests(
        seen["intended_ns"],
        seen["start_ns"],
        seen["end_ns"],
        seen["interaction"].astype(object),
        seen["usual_ns"],
    )
    very_long = slow.response_ns > round(chosen[0] * 1e9)
    total = int(seen["total"][0]) if seen["total"].size else _any(db, span)
    return SlowRequests(
        threshold_s=chosen[0],
        threshold_from=chosen[1],
        total=total,
        very_long=slow.of(very_long),
        delayed=slow.of(seen["delayed"].astype(bool) | very_long),
    )


def _any(db: Connection, span: Span) -> int:
    found = columns(
        db, f"SELECT count(*) AS count FROM requests WHERE end_ns {IN_SPAN}", bounds(span)
    )
    return int(found["count"][0])


def threshold(found: Modes | None) -> tuple[float, Literal["valley", "default"]]:
    """Return from when on a request took very long: the first valley of the response times that is
    at least 0.3 s, ten times the main mode and below two seconds; else two seconds.
    """
    if found is not None and found.modes:
        main = max(found.modes, key=lambda each: each.weight).at_s
        for mode in found.modes:
            valley = mode.from_s
            if valley is not None and max(_VALLEY_FROM_S, _VALLEY_MEDIANS * main) <= valley:
                return (valley, "valley") if valley < THRESHOLD_S else (THRESHOLD_S, "default")
    return THRESHOLD_S, "default"


def clusters(requests: Requests, gap_ns: int = GAP_NS) -> list[SlowCluster]:
    """Group slow requests by when they were meant to begin."""
    if not requests.count:
        return []
    first = np.append(0, np.flatnonzero(np.diff(requests.intended_ns) > gap_ns) + 1)
    last = np.append(first[1:], requests.count) - 1
    return [
        SlowCluster(
            start_ns=int(requests.intended_ns[a]),
            last_start_ns=int(requests.intended_ns[b]),
            end_ns=int(requests.end_ns[a : b + 1].max()),
            count=int(b - a + 1),
            worst_s=float(requests.response_ns[a : b + 1].max() / 1e9),
        )
        for a, b in zip(first, last, strict=True)
    ]
