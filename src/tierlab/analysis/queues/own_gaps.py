"""Where did visits wait at a server itself, not for a server that it called?

A visit's time at its server is its stay less the stays of its calls. What is left falls into gaps:
from its request's last byte to its first call, between calls, from the last reply to its departure.
A long gap is time that this server, and nobody below it, kept a request waiting (nor the asker: one
who takes long to send the rest, or never does, holds a thread, but it is the server that waits, and
one who asked to wait is not kept by it).
J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), section 4.3, compares queues tier by tier to blame a
server for a window; here one is blamed for every single visit.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tierlab.analysis.query import Bools, Connection, Floats, Ints, bounds, columns
from tierlab.analysis.served_from import SERVED_FROM_NS
from tierlab.analysis.span import Span

INCOMPLETE = "coalesce(status, 0) IN (400, 408)"
"""Bad request and request timeout (RFC 9110, sections 15.5.1 and 15.5.9) of a visit that was never
answered to its end: the request never came whole. One that was answered is a visit like any other;
its request's end does not tell, as that is the last byte that was seen."""

Names = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Gaps:
    """Long gaps in order of time, one an element.

    ``label`` is the visit's. ``callee`` is the server whose visit ended the gap by arriving there;
    empty where it ended with the visit's own departure. ``usual_ns`` is the median stay of visits
    of the same label at the same server, NaN where there were fewer than 20.
    """

    server: Names
    label: Names
    start_ns: Ints
    end_ns: Ints
    callee: Names
    usual_ns: Floats

    @property
    def length_ns(self) -> Ints:
        """How long each was."""
        return self.end_ns - self.start_ns

    def of(self, chosen: Bools | Ints) -> "Gaps":
        """Keep some of them."""
        return Gaps(
            self.server[chosen],
            self.label[chosen],
            self.start_ns[chosen],
            self.end_ns[chosen],
            self.callee[chosen],
            self.usual_ns[chosen],
        )


def own_gaps(db: Connection, span: Span, least_ns: int) -> Gaps:
    """Find the gaps of at least ``least_ns`` that began in the span.

    Needs :func:`tierlab.analysis.queues.unfinished.hold_unfinished`. A visit without a departure
    lasts as long as ``held`` says that it is unanswered, but no longer than until one is answered
    that came after it: then it was not the server that kept it. Only visits that lasted that long
    are joined with their calls, so that millions of short ones cost one pass; they are read twice
    rather than kept.
    """
    found = columns(
        db,
        f"""WITH unanswered AS (
            SELECT visit, server, label, arrival_ns, since_ns, request_end_ns, unanswered_ns
            FROM visits JOIN held USING (server, arrival_ns)
            WHERE departure_ns IS NULL AND NOT {INCOMPLETE}
        ), answered AS (
            SELECT server, arrival_ns, departure_ns FROM visits
            WHERE departure_ns IS NOT NULL AND server IN (SELECT server FROM unanswered)
        ), stays AS NOT MATERIALIZED (
            SELECT visit, server, label, greatest({SERVED_FROM_NS}, request_end_ns) AS a,
                departure_ns AS d FROM visits
            WHERE departure_ns IS NOT NULL
            UNION ALL
            SELECT visit, unanswered.server, label,
                greatest(since_ns, request_end_ns),
                least(unanswered_ns, answered.departure_ns)
            FROM unanswered ASOF LEFT JOIN answered ON unanswered.server = answered.server
                AND unanswered.arrival_ns < answered.arrival_ns
        ), long AS MATERIALIZED (
            SELECT * FROM stays WHERE d - a >= $least AND d > $start AND a < $end
        ), usual AS (
            SELECT server, label, median(d - a) AS usual FROM stays
            SEMI JOIN long USING (server, label)
            GROUP BY server, label HAVING count(*) >= 20
        ), marks AS (
            SELECT child.parent AS visit, child.server AS callee, child.arrival_ns AS t,
                coalesce(child.departure_ns, child.arrival_ns) AS until
            FROM visits AS child WHERE child.parent IN (SELECT visit FROM long)
            UNION ALL SELECT visit, NULL, d, d FROM long
        ), gaps AS (
            SELECT long.server, long.label, callee, least(marks.t, long.d) AS gap_end, greatest(
                long.a,
                coalesce(max(marks.until) OVER (PARTITION BY long.visit ORDER BY marks.t, callee
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), long.a)) AS gap_start
            FROM marks JOIN long USING (visit)
        ) SELECT server, coalesce(label, '') AS label, gap_start, gap_end,
            coalesce(callee, '') AS callee, usual
        FROM gaps LEFT JOIN usual USING (server, label)
        WHERE gap_end - gap_start >= $least AND gap_start BETWEEN $start AND $end - 1
        ORDER BY gap_start, gap_end""",
        {**bounds(span), "least": least_ns},
    )
    return Gaps(
        np.asarray(found["server"], object),
        np.asarray(found["label"], object),
        found["gap_start"].astype(np.int64),
        found["gap_end"].astype(np.int64),
        np.asarray(found["callee"], object),
        found["usual"].astype(np.float64),
    )
