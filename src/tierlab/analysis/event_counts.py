"""What happened beside the requests: retransmissions, drops, late ticks, lost packets."""

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

INCIDENT = "kind NOT IN ('phase', 'driver_lag', 'change')"
"""An event that is not a record kept anyway: phases, changes, the driver's figures each second."""


class EventCount(Result):
    """Events of one kind at one subject in the span. ``longest_s`` is the longest of them."""

    kind: str
    subject: str
    count: int
    longest_s: float


def event_counts(db: Connection, span: Span) -> list[EventCount]:
    """Count the events that began in the span by kind and subject; phases and the driver's
    own records are not among them."""
    found = rows(
        db,
        f"""SELECT kind, subject, count(*) AS count, max(duration_ns) / 1e9 AS longest_s
            FROM events WHERE {INCIDENT} AND t_ns {IN_SPAN}
            GROUP BY ALL ORDER BY count DESC, kind, subject""",
        bounds(span),
    )
    return [EventCount(**each) for each in found]
