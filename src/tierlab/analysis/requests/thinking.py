"""Before how many requests did users think?"""

from tierlab.analysis.query import IN_SPAN, Connection, bounds, row
from tierlab.analysis.span import Span

_AT_ONCE_NS = 20_000
"""No think time is shorter, but for one in thousands: the two instants are read from two clocks."""


def thought_share(db: Connection, span: Span, asked: str = "requests") -> float | None:
    """Return the share of the span's requests that came after a think time, in a closed loop.

    A user's first request, before which there is nothing, counts for neither; None when the span
    has no other. ``asked`` are the requests as a table in SQL: those of one of several systems.
    """
    found = row(
        db,
        f"""SELECT avg((intended_ns - before > {_AT_ONCE_NS})::INT) AS share FROM (
            SELECT intended_ns, end_ns,
                lag(end_ns) OVER (PARTITION BY "user" ORDER BY intended_ns) AS before FROM {asked}
        ) WHERE before IS NOT NULL AND end_ns {IN_SPAN}""",
        bounds(span),
    )
    share: float | None = found["share"]
    return share
