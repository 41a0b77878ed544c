"""Which programs and functions took more, or less, in one run than in another: events a request, so
that runs of unequal load can be held against each other.
"""

from __future__ import annotations

from collections.abc import Collection

from tierlab.analysis.query import IN_SPAN, Connection, bounds, row, rows
from tierlab.analysis.requests.responses import FAILED
from tierlab.analysis.resources.event_rates import IDLE
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.errors import UserError
from tierlab.tables.profile import WHOLE

Function = tuple[str, str | None, str | None]


class FunctionDifference(Result):
    """A function of a domain: its events for each request that ended well, in both runs. A
    nanosecond is an event of `cpu-clock`.
    """

    domain: str
    binary: str | None
    symbol: str | None
    first: float
    second: float
    change: float


class ProfileDifference(Result):
    """One event as the same source counted it in both runs: events a request in all, and the
    functions that differ most, the largest difference first.
    """

    event: str
    source: str
    first: float
    second: float
    functions: list[FunctionDifference]


def profile_differences(
    first: tuple[Connection, Span],
    second: tuple[Connection, Span],
    top: int,
    events: Collection[str] = (),
    domains: Collection[str] = (),
) -> list[ProfileDifference]:
    """Return the differences of each event that both runs have in these stretches, of these
    ``events`` and ``domains`` where any is named; `UserError` where there is none or a run has no
    request that ended well.
    """
    one, other = (_chosen(_by_event(each), events, domains) for each in (first, second))
    shared = sorted(one.keys() & other.keys())
    if not shared:
        asked = " and ".join(filter(None, [", ".join(events), ", ".join(domains)]))
        raise UserError(
            f"the runs have no event{f' of {asked}' if asked else ''} in common: profile both by"
            " the same observe.profile.events."
        )
    return [_difference(*key, one[key], other[key], top) for key in shared]


def _chosen(
    found: dict[tuple[str, str], dict[Function, float]],
    events: Collection[str],
    domains: Collection[str],
) -> dict[tuple[str, str], dict[Function, float]]:
    kept = {
        key: {of: count for of, count in counts.items() if not domains or of[0] in domains}
        for key, counts in found.items()
        if not events or key[0] in events
    }
    return {key: counts for key, counts in kept.items() if counts}


def _by_event(of: tuple[Connection, Span]) -> dict[tuple[str, str], dict[Function, float]]:
    """Events a request, by event and function."""
    db, span = of
    done = row(
        db,
        f"SELECT count(*) AS done FROM requests WHERE end_ns {IN_SPAN} AND NOT {FAILED}",
        bounds(span),
    )["done"]
    if not done:
        raise UserError("not one request of one of the runs ended well, to count events by.")
    found: dict[tuple[str, str], dict[Function, float]] = {}
    for each in rows(
        db,
        f"""SELECT event, source, domain, "binary", symbol, sum(count)::DOUBLE AS count
            FROM counters WHERE t_ns {IN_SPAN} AND domain <> '{IDLE}' AND NOT {WHOLE}
            GROUP BY ALL""",
        bounds(span),
    ):
        function = (each["domain"], each["binary"], each["symbol"])
        found.setdefault((each["event"], each["source"]), {})[function] = each["count"] / done
    return found


def _difference(
    event: str,
    source: str,
    first: dict[Function, float],
    second: dict[Function, float],
    top: int,
) -> ProfileDifference:
    functions = []
    for function in first.keys() | second.keys():
        domain, binary, symbol = function
        one, other = first.get(function, 0.0), second.get(function, 0.0)
        functions.append(
            FunctionDifference(
                domain=domain,
                binary=binary,
                symbol=symbol,
                first=one,
                second=other,
                change=other - one,
            )
        )
    functions.sort(key=lambda each: (-abs(each.change), each.domain, each.symbol or ""))
    return ProfileDifference(
        event=event,
        source=source,
        first=sum(first.values()),
        second=sum(second.values()),
        functions=functions[:top],
    )
