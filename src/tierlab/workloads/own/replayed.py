"""Visits as an access log has them, in the driver's form: each request at its own time.

A visitor is told apart as for users who are fitted to a log (`logged`). What was asked for by GET
and answered well is sent again, pictures and styles included: a log has no forms.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.exchange.access_log import Line
from tierlab.values.quantities import SECOND
from tierlab.workloads.own.asked import can_be_asked, log_of, sessions
from tierlab.workloads.own.checks import (
    check_matched,
    is_of_all,
    narrowest,
    rules,
    saying,
    with_expected,
)
from tierlab.workloads.own.page_kinds import kind
from tierlab.workloads.own.pages import OTHER

MOST_KINDS = 100
"""Kinds of page; the seldom ones beyond are one."""
NO_LIMIT = 2**32 - 1
"""Of the requests of a visit."""

Request = tuple[int, str, str]
"""When it was sent, in nanoseconds since the first one; its kind of page; its target."""


def replayed(
    file: Path, expect: Mapping[str, str], log_format: str | None = None
) -> dict[str, Any]:
    """The description of a log's visits; `UserError` where it has none, or no page that is as
    `expect` has it. `log_format`: the format of its lines, as the server's configuration has it.
    """
    whole = log_of(file, log_format).lines
    lines = [line for line in whole if can_be_asked(line)]
    if not lines:
        raise UserError(f"{file}: has no page that was asked for by GET and answered well.")
    counted = Counter(kind(line.target) for line in lines)
    kept = dict.fromkeys(name for name, _ in counted.most_common(MOST_KINDS))
    visits = _visits(lines, kept)
    check_matched(expect, kept, str(file))
    states = [with_expected({"name": name, "path": "/"}, name, expect) for name in kept]
    if len(counted) > len(kept):
        of_all = narrowest(filter(is_of_all, expect))
        states.append(saying({"name": OTHER, "path": "/"}, expect, of_all))
    return {
        "name": f"own log, replayed ({len(visits)} visits, {len(lines)} of {len(whole)} requests)",
        "home": states[0]["name"],
        "states": states,
        "sessions": [
            {
                "name": "visitor",
                "share": 1.0,
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": {state["name"]: [(state["name"], 1.0)] for state in states},
            }
        ],
        "rules": rules() | {"redirects": "stay", "session_limit": NO_LIMIT},
        "visits": visits,
    }


def _visits(lines: Sequence[Line], kept: Mapping[str, None]) -> list[list[Request]]:
    """Each visit's requests, the visits in the order of their beginnings."""
    by_client: dict[str, list[tuple[int, Line]]] = defaultdict(list)
    for at_ns, line in zip(_times(lines), lines, strict=True):
        by_client[line.client].append((at_ns, line))
    found = [
        [
            (at_ns, name if (name := kind(line.target)) in kept else OTHER, line.target)
            for at_ns, line in visit
        ]
        for asked in by_client.values()
        for visit in sessions(asked, lambda timed: timed[1])
    ]
    return sorted(found, key=lambda visit: visit[0][0])


def _times(lines: Sequence[Line]) -> Iterator[int]:
    """When each was sent, since the first one's second. Where a log has whole seconds, those of one
    are spread evenly over it, in their order.
    """
    begin = lines[0].time_ns // SECOND * SECOND
    if any(line.time_ns % SECOND for line in lines):
        yield from (line.time_ns - begin for line in lines)
        return
    alike = Counter(line.time_ns for line in lines)
    seen: Counter[int] = Counter()
    for line in lines:
        within = seen[line.time_ns] * SECOND // alike[line.time_ns]
        seen[line.time_ns] += 1
        yield line.time_ns - begin + within
