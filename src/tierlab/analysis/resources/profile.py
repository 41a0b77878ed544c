"""In which programs and functions events happened: the heaviest of each server, as `opreport` has
them.
"""

from collections.abc import Sequence
from typing import Any

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.resources.event_rates import IDLE
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.errors import UserError
from tierlab.tables.profile import WHOLE

TOP = 10


class ProfileLine(Result):
    """A binary, or a function of one: its samples, the events that they stand for, and its share of
    its domain's. ``samples`` is None of what was counted one by one; ``binary`` and ``symbol`` are
    None where they are not known.
    """

    binary: str | None
    symbol: str | None = None
    samples: int | None
    count: int
    share: float


class DomainProfile(Result):
    """One domain: its events, their share of all domains', and its heaviest binaries and functions,
    the heaviest first.
    """

    domain: str
    samples: int | None
    count: int
    share: float
    binaries: list[ProfileLine]
    symbols: list[ProfileLine]


class EventProfile(Result):
    """One event as one source counted it; the PUs' idle time is left out."""

    event: str
    source: str
    samples: int | None
    count: int
    domains: list[DomainProfile]


def profile(db: Connection, span: Span, top: int = TOP) -> list[EventProfile]:
    """Return what was counted in the span, by event; the one with the most samples first."""
    found = rows(
        db,
        f"""SELECT event, source, domain, "binary", symbol, sum(count)::BIGINT AS count,
                CASE WHEN count(period) = count(*)
                    THEN round(sum(CASE dt_ns WHEN 0 THEN 1 ELSE count / period END))::BIGINT
                END AS samples
            FROM counters WHERE t_ns {IN_SPAN} AND domain <> '{IDLE}' AND count > 0 AND NOT {WHOLE}
            GROUP BY ALL ORDER BY event, source, domain, count DESC, "binary", symbol""",
        bounds(span),
    )
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in found:
        groups.setdefault((row["event"], row["source"]), []).append(row)
    events = [_event(*key, each, top) for key, each in groups.items()]
    return sorted(events, key=lambda each: (-(each.samples or 0), each.event))


def chosen(
    found: list[EventProfile], events: Sequence[str], domains: Sequence[str]
) -> list[EventProfile]:
    """Return the events and domains of these names; all where none is named.

    Raises :class:`UserError` for a name that is not there.
    """
    for what, names, known in (
        ("event", events, {each.event for each in found}),
        ("domain", domains, {each.domain for event in found for each in event.domains}),
    ):
        if unknown := [name for name in names if name not in known]:
            raise UserError(
                f"the profile has no {what} {unknown[0]}: take one of {', '.join(sorted(known))}."
            )
    return [
        each.model_copy(
            update={"domains": [d for d in each.domains if not domains or d.domain in domains]}
        )
        for each in found
        if not events or each.event in events
    ]


def _event(event: str, source: str, found: list[dict[str, Any]], top: int) -> EventProfile:
    total = sum(row["count"] for row in found)
    by_domain: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        by_domain.setdefault(row["domain"], []).append(row)
    domains = [_domain(name, each, total, top) for name, each in by_domain.items()]
    return EventProfile(
        event=event,
        source=source,
        samples=_samples(found),
        count=total,
        domains=sorted(domains, key=lambda each: (-each.count, each.domain)),
    )


def _domain(name: str, found: list[dict[str, Any]], all_: int, top: int) -> DomainProfile:
    total = sum(row["count"] for row in found)
    by_binary: dict[str | None, list[dict[str, Any]]] = {}
    for row in found:
        by_binary.setdefault(row["binary"], []).append(row)
    binaries = [_line(each, total, binary) for binary, each in by_binary.items()]
    symbols = [_line([row], total, row["binary"], row["symbol"]) for row in found]
    return DomainProfile(
        domain=name,
        samples=_samples(found),
        count=total,
        share=total / all_,
        binaries=_heaviest(binaries, top),
        symbols=_heaviest(symbols, top),
    )


def _line(
    found: list[dict[str, Any]], total: int, binary: str | None, symbol: str | None = None
) -> ProfileLine:
    count = sum(row["count"] for row in found)
    return ProfileLine(
        binary=binary, symbol=symbol, samples=_samples(found), count=count, share=count / total
    )


def _heaviest(lines: list[ProfileLine], top: int) -> list[ProfileLine]:
    return sorted(lines, key=lambda each: -each.count)[:top]


def _samples(found: list[dict[str, Any]]) -> int | None:
    counts = [row["samples"] for row in found]
    return None if None in counts else sum(counts)
