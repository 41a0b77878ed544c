"""How long did requests stay at each server?"""

from tierlab.analysis.query import IN_SPAN, Connection, bounds, row, rows
from tierlab.analysis.requests import distribution
from tierlab.analysis.requests.distribution import Distribution
from tierlab.analysis.result import Result
from tierlab.analysis.served_from import SERVED_FROM_NS, STAY_NS
from tierlab.analysis.span import Span


class ServerVisits(Result):
    """The visits that left one server in the span.

    ``rate`` is visits per second; ``unfinished`` counts visits that arrived in the span and were
    never seen to leave, but for those that their clients still let wait. ``finished_mean`` is the
    time-weighted mean number in progress of those that left, ``held_mean`` of those that did not.
    ``time`` is None when none left. What visits waited by their clients' wish
    (:mod:`tierlab.analysis.served_from`) is in none of these.
    """

    server: str
    count: int
    rate: float
    unfinished: int
    finished_mean: float
    held_mean: float
    time: Distribution | None

    @property
    def queue_mean(self) -> float:
        """The time-weighted mean number of all visits in progress."""
        return self.finished_mean + self.held_mean


def unvisited(server: str) -> ServerVisits:
    """Return the visits of a server that had none."""
    return ServerVisits(
        server=server,
        count=0,
        rate=0.0,
        unfinished=0,
        finished_mean=0.0,
        held_mean=0.0,
        time=None,
    )


def server_visits(db: Connection, span: Span) -> list[ServerVisits]:
    """Summarise the visits by server, in the order of their names."""
    found = rows(
        db,
        f"""SELECT server,
            {distribution.aggregates(STAY_NS, f"departure_ns {IN_SPAN}")},
            coalesce(sum({_inside(SERVED_FROM_NS, "departure_ns")})
                FILTER (WHERE departure_ns IS NOT NULL), 0)
                / ($end - $start)::DOUBLE AS finished_mean
            FROM visits GROUP BY server ORDER BY server""",
        bounds(span),
    )
    held = _held(db, span)
    results = []
    for each in found:
        time = distribution.from_row(each)
        count = each["dist_count"]
        results.append(
            ServerVisits(
                server=each["server"],
                count=count,
                rate=count / span.seconds,
                unfinished=held.get(each["server"], (0, 0.0))[0],
                finished_mean=float(each["finished_mean"]),
                held_mean=held.get(each["server"], (0, 0.0))[1],
                time=time,
            )
        )
    return results


def _inside(from_ns: str, until_ns: str) -> str:
    """Return the SQL of how long a stay lay in the span."""
    return f"greatest(least({until_ns}, $end) - greatest({from_ns}, $start), 0)"


def _held(db: Connection, span: Span) -> dict[str, tuple[int, float]]:
    """Return how many visits without a departure arrived at each server in the span, and how many
    stood there on average.
    """
    found = rows(
        db,
        f"""SELECT server, count(*) FILTER (WHERE arrival_ns {IN_SPAN}) AS arrived,
            sum({_inside("since_ns", "until_ns")})::BIGINT AS held_ns FROM held GROUP BY server""",
        bounds(span),
    )
    return {each["server"]: (each["arrived"], each["held_ns"] / span.duration_ns) for each in found}


class Linking(Result):
    """How well visits were linked: of those below the entry tier, how many have a parent, and how
    the links were made (``thread``, ``id``, ``inferred``).
    """

    linked: int
    unlinked: int
    by_link: dict[str, int]
    mean_confidence: float | None


def linking(db: Connection, span: Span, entry: list[str]) -> Linking:
    """Count the links of the visits that left a server below the ``entry`` servers in the span."""
    where = f"departure_ns {IN_SPAN} AND NOT list_contains($entry::VARCHAR[], server)"
    parameters = {**bounds(span), "entry": entry}
    total = row(
        db,
        f"""SELECT count(parent) AS linked, count(*) - count(parent) AS unlinked,
            avg(confidence) AS mean_confidence FROM visits WHERE {where}""",
        parameters,
    )
    kinds = rows(
        db,
        f"""SELECT link, count(*) AS count FROM visits WHERE {where} AND link IS NOT NULL
            GROUP BY link ORDER BY link""",
        parameters,
    )
    return Linking(**total, by_link={each["link"]: each["count"] for each in kinds})
