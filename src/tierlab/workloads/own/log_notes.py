"""What a user has to know about an access log before its load is believed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path

from tierlab.exchange.access_log import AccessLog, Line
from tierlab.workloads.own.asked import (
    RESOURCE,
    can_be_asked,
    is_resource,
    log_of,
    sessions,
    why_not,
)
from tierlab.workloads.own.crowds import Visit, crowded

UNKNOWN_SHARE = 0.1
"""Share of requests without an address from which on it is said."""


def notes(file: Path, log_format: str | None = None) -> list[str]:
    """Return sentences on what was not understood of a log, what is left out, and what is surmised;
    empty where there is nothing to say. Raises `UserError` where it is no log.
    """
    log = log_of(file, log_format)
    pages = [line for line in log.lines if can_be_asked(line) and not is_resource(line)]
    return [
        *_of_file(file.name, log),
        *_left_out(file.name, log.lines),
        *_of_hosts(file.name, log, pages),
        *_of_visitors(file.name, log, pages),
    ]


def visits_of(
    lines: Sequence[Line], who: Callable[[Line], str] = attrgetter("client")
) -> list[Visit]:
    """Return the sessions of all visitors."""
    by_client: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_client[who(line)].append(line)
    return [visit for asked in by_client.values() for visit in sessions(asked, lambda line: line)]


def counted(count: int, one: str, several: str = "") -> str:
    """Return a number with its noun."""
    return f"{count} {one if count == 1 else several or f'{one}s'}"


def reasons(lines: Sequence[Line], *, resources: bool) -> Counter[str]:
    """Return how many requests nobody asks for again, by the reason; with `resources`, what belongs
    to pages is not among them.
    """
    found = Counter(why for line in lines if (why := why_not(line)) is not None)
    if not resources:
        found[RESOURCE] = sum(can_be_asked(line) and is_resource(line) for line in lines)
    return +found


def _of_file(name: str, log: AccessLog) -> Iterator[str]:
    if log.damage:
        yield (
            f"{name} is damaged ({log.damage}): {counted(len(log.lines), 'request')} before that"
            " were read; copy the file anew."
        )
    wrong, read = log.not_understood, len(log.lines)
    if wrong.count:
        yield (
            f"{wrong.count} of {read + wrong.count} lines of {name} that look like requests were"
            f" not understood and are left out; the first is {wrong.first}."
        )
    if others := log.others.count:
        said = "is no request and was" if others == 1 else "are no requests and were"
        yield (
            f"{counted(others, 'line')} of {name} {said} passed over; the first is"
            f" {log.others.first}."
        )
    if len(log.formats) > 1:
        parts = ", ".join(f"{count} in {form}" for form, count in log.formats.most_common())
        yield f"{name} has requests in several formats ({parts}); all are read as one log."


def _left_out(name: str, lines: Sequence[Line]) -> Iterator[str]:
    found = reasons(lines, resources=True)
    if total := sum(found.values()):
        parts = ", ".join(f"{count} {why}" for why, count in found.most_common())
        yield f"{total} of {len(lines)} requests of {name} are left out of the load: {parts}."


def _of_hosts(name: str, log: AccessLog, pages: Sequence[Line]) -> Iterator[str]:
    hosts = Counter(line.host.lower() for line in pages if line.host)
    if len(hosts) > 1:
        yield (
            f"{name} has requests for {len(hosts)} hosts ({_most(hosts)}); all are sent to one"
            " application. Take the other hosts' lines out if they are other sites."
        )
    if len(log.services) > 1:
        yield (
            f"{name} has requests of {len(log.services)} services ({_most(log.services)}); one that"
            " passes several of them counts several times. Keep the lines of one service."
        )


def _most(found: Counter[str]) -> str:
    shown = [f"{each}: {count}" for each, count in found.most_common(5)]
    return ", ".join(shown + (["..."] if len(found) > len(shown) else []))


def _of_visitors(name: str, log: AccessLog, pages: Sequence[Line]) -> Iterator[str]:
    if log.forwarded:
        several = counted(len({line.address for line in pages}), "address", "addresses")
        yield (
            f"{name} seems to have forwarded addresses in {' and '.join(log.forwarded)}: visitors"
            f" are told apart by these ({several}), not by the client's, which is a proxy's there."
        )
    unknown = [line for line in pages if not line.address]
    if unknown and len(unknown) >= len(pages) * UNKNOWN_SHARE:
        yield (
            f"{len(unknown)} of {len(pages)} requests of {name} have no client's address, so that"
            f" their visitors cannot be told apart: {_browsers(unknown)} count as one visitor each,"
            " and think times and paths are mixtures; have the server log the client's address or"
            " X-Forwarded-For."
        )
    known = [line for line in pages if line.address]
    crowd = [line for visit in crowded(visits_of(known, attrgetter("address"))) for line in visit]
    if crowd:
        addresses = len({line.address for line in crowd})
        share = f"{len(crowd)}" if len(crowd) == len(pages) else f"{len(crowd)} of {len(pages)}"
        yield (
            f"{counted(addresses, 'address', 'addresses')} and {_browsers(crowd)} for"
            f" {share} requests of {name}: one person does not ask so often, so these look like"
            " proxies (or programs, such as crawlers), and think times and paths are mixtures of"
            " several visitors'; have the server log X-Forwarded-For."
        )


def _browsers(lines: Sequence[Line]) -> str:
    return counted(len({line.agent for line in lines}), "browser")
