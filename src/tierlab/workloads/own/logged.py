"""Users as an access log tells of them, in the driver's form: fitted, not replayed.

A visitor (address, user and browser) who asks for nothing for half an hour begins another session
(the usual cut: Catledge and Pitkow, "Characterizing browsing strategies in the World-Wide Web",
1995). Only what was asked for by GET and answered well can be asked for again: a log has no forms.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.exchange.access_log import Line
from tierlab.workloads.own.asked import can_be_asked, is_resource, log_of, seconds_between
from tierlab.workloads.own.checks import (
    check_matched,
    pattern_of,
    rules,
    saying,
    with_expected,
)
from tierlab.workloads.own.log_notes import notes, reasons, visits_of
from tierlab.workloads.own.page_kinds import kind
from tierlab.workloads.own.pages import drawn
from tierlab.workloads.sessions.delay import think
from tierlab.workloads.sessions.description import State

__all__ = ["logged", "notes"]

LONGEST_THINK_S = 600
MOST_KINDS = 100
"""Kinds of page; the seldom ones beyond are left out."""
MOST_TARGETS = 1000
"""Of one kind of page, the most frequent."""
FIRST = "first page"


def logged(
    file: Path, expect: Mapping[str, str], *, own_think: bool, log_format: str | None = None
) -> dict[str, Any]:
    """The description of users fitted to a log: kinds of page, how likely each is after each, and
    the mean think time after each; `UserError` where the log has no such page, or none that is as
    `expect` has it. `log_format`: the format of its lines, as the server's configuration has it.
    """
    visits, _ = _visits(file, file.stat().st_mtime_ns, log_format)
    firsts = Counter(visit[0].target for visit in visits)
    kinds = Counter(kind(line.target) for visit in visits for line in visit)
    kept = [name for name, _ in kinds.most_common(MOST_KINDS)]
    targets: dict[str, Counter[str]] = defaultdict(Counter)
    for visit in visits:
        for line in visit:
            targets[kind(line.target)][line.target] += 1
    thinks = _thinks(visits)
    check_matched(expect, [*kept, *map(kind, firsts)], str(file))
    begins = _begins(firsts, expect)
    states = begins + [with_expected(_drawn(name, targets[name]), name, expect) for name in kept]
    for state in states:
        name = state.get("interaction", state["name"])
        if own_think and name in thinks:
            state["delay"] = think(thinks[name])
    transitions = _transitions(visits, kept)
    return {
        "name": _name(visits, file, log_format),
        "home": FIRST,
        "states": states,
        "sessions": [
            {
                "name": "visitor",
                "share": 1.0,
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": transitions
                | {state["name"]: transitions[FIRST] for state in begins},
            }
        ],
        # Where they lead to is in the log.
        "rules": rules() | {"redirects": "stay"},
    }


def _begins(firsts: Counter[str], expect: Mapping[str, str]) -> list[State]:
    """The pages that visits begin with, drawn; those that have to say something are of a state that
    holds them to it.
    """
    first = _drawn(FIRST, firsts)
    patterns = [pattern_of(kind(f"/{target}"), expect) for (target,) in first["row"]["rows"]]
    names = {pattern: f"{FIRST} {pattern}" for pattern in patterns if pattern is not None}
    if not names:
        return [first]
    first["row"]["states"] = [FIRST if each is None else names[each] for each in patterns]
    return [
        first,
        *(
            saying({"name": name, "interaction": FIRST, "path": "/"}, expect, pattern)
            for pattern, name in names.items()
        ),
    ]


def _drawn(name: str, counted: Counter[str]) -> State:
    pairs = counted.most_common(MOST_TARGETS)
    return drawn(name, [target for target, _ in pairs], [float(count) for _, count in pairs])


@lru_cache(maxsize=8)
def _visits(
    file: Path, _changed_ns: int, log_format: str | None = None
) -> tuple[tuple[tuple[Line, ...], ...], int]:
    """The sessions of a log, and how many requests are in none."""
    lines = log_of(file, log_format).lines
    pages = [line for line in lines if can_be_asked(line) and not is_resource(line)]
    if not pages:
        raise UserError(
            f"{file}: has no page that was asked for by GET and answered well; give a log of pages."
        )
    return tuple(map(tuple, visits_of(pages))), len(lines) - len(pages)


def _name(visits: Sequence[Sequence[Line]], file: Path, log_format: str | None) -> str:
    """What the log is called, with what was left out of it, by reason."""
    lines = log_of(file, log_format).lines
    left_out = reasons(lines, resources=False)
    kept = f"{sum(map(len, visits))} of {len(lines)} requests"
    parts = ", ".join(f"{count} {why}" for why, count in left_out.most_common())
    return f"own log ({kept}{f'; left out: {parts}' if parts else ''})"


def _thinks(visits: Sequence[Sequence[Line]]) -> dict[str, int]:
    """By kind of page, the mean time to the next one, in nanoseconds."""
    gaps: dict[str, list[float]] = defaultdict(list)
    for visit in visits:
        for number, (line, after) in enumerate(pairwise(visit)):
            gap = min(seconds_between(line, after), LONGEST_THINK_S)
            gaps[FIRST if number == 0 else kind(line.target)].append(gap)
    return {name: round(sum(found) / len(found) * 1e9) for name, found in gaps.items()}


def _transitions(
    visits: Sequence[Sequence[Line]], kept: Sequence[str]
) -> dict[str, list[tuple[str, float]]]:
    counts: dict[str, Counter[str]] = {name: Counter() for name in (FIRST, *kept)}
    for visit in visits:
        path = [FIRST, *(each for each in map(_kind_of, visit[1:]) if each in counts), "End"]
        for before, after in pairwise(path):
            counts[before][after] += 1
    return {
        name: [(to, count / sum(counted.values())) for to, count in counted.items()]
        or [("End", 1.0)]
        for name, counted in counts.items()
    }


def _kind_of(line: Line) -> str:
    return kind(line.target)
