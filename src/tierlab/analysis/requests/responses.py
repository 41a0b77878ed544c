"""How fast was it, and for the slowest? Throughput, response time, errors, by interaction."""

from tierlab.analysis.query import IN_SPAN, Connection, bounds, row, rows
from tierlab.analysis.requests import distribution
from tierlab.analysis.requests.distribution import Distribution
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

RESPONSE_NS = "(end_ns - intended_ns)"
"""Response time as SQL. It starts when the user meant to click, not when a late driver got to it:
else a stall hides itself ("coordinated omission", G. Tene, "How NOT to Measure Latency")."""

FAILED = """(error IS NOT NULL OR (coalesce(protocol, 'http1') LIKE 'http%'
    AND coalesce(status, 0) NOT BETWEEN 100 AND 399))"""
"""A failed request as SQL: the driver says why, or by HTTP no status came that is a success or a
redirect. A database's answer has no status."""

PAGE = "coalesce(system || ': ', '') || interaction"
"""An interaction as SQL, of several systems with whose it is: their pages may be called alike."""

_KIND = "coalesce(error, 'status ' || status, 'no status')"


class ErrorCount(Result):
    """How many requests failed in one way."""

    kind: str
    count: int


class Responses(Result):
    """The requests that ended in the span, as their users saw them.

    ``throughput`` counts the successful ones per second, and ``time`` is their response time; a
    failed request is quick or slow for reasons of its own. ``time`` is None when all failed.
    ``mean_all_s`` is the mean of all requests, failed ones too.
    """

    count: int
    failed: int
    throughput: float
    mean_all_s: float
    time: Distribution | None
    errors: list[ErrorCount]


class Interaction(Result):
    """One kind of page, of one system: its share of all requests and its successful ones' times."""

    name: str
    count: int
    failed: int
    share: float
    time: Distribution | None


def responses(db: Connection, span: Span, system: str | None = None) -> Responses | None:
    """Summarise the requests that ended in the span, of one of several systems if it is named;
    None when there were none.
    """
    ended = f"end_ns {IN_SPAN}"
    which: dict[str, object] = {**bounds(span)}
    if system is not None:
        ended, which["system"] = f"{ended} AND system = $system", system
    total = row(
        db,
        f"""SELECT count(*) AS count, count(*) FILTER (WHERE {FAILED}) AS failed,
            avg({RESPONSE_NS}) / 1e9 AS mean_all_s,
            {distribution.aggregates(RESPONSE_NS, f"NOT {FAILED}")}
            FROM requests WHERE {ended}""",
        which,
    )
    if not total["count"]:
        return None
    errors = rows(
        db,
        f"""SELECT {_KIND} AS kind, count(*) AS count FROM requests
            WHERE {FAILED} AND {ended} GROUP BY kind ORDER BY count DESC, kind""",
        which,
    )
    return Responses(
        count=total["count"],
        failed=total["failed"],
        throughput=(total["count"] - total["failed"]) / span.seconds,
        mean_all_s=total["mean_all_s"],
        time=distribution.from_row(total),
        errors=[ErrorCount(**error) for error in errors],
    )


def interactions(db: Connection, span: Span) -> list[Interaction]:
    """Summarise the same requests by interaction, the most frequent first."""
    found = rows(
        db,
        f"""SELECT {PAGE} AS name, count(*) AS count,
            count(*) FILTER (WHERE {FAILED}) AS failed,
            {distribution.aggregates(RESPONSE_NS, f"NOT {FAILED}")}
            FROM requests WHERE end_ns {IN_SPAN} GROUP BY name ORDER BY count DESC, name""",
        bounds(span),
    )
    total = sum(each["count"] for each in found)
    return [
        Interaction(
            name=each["name"],
            count=each["count"],
            failed=each["failed"],
            share=each["count"] / total,
            time=distribution.from_row(each),
        )
        for each in found
    ]
