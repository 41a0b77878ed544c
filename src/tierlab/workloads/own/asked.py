"""What of an access log can be asked for again, by whom, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from tierlab.exchange.access_log import AccessLog, Line, read_log
from tierlab.workloads.own.secrets import is_sensitive
from tierlab.workloads.own.slots import target_slots
from tierlab.workloads.own.steps import FAILED, RESOURCE_ENDS

SESSION_GAP_S = 1800
RESOURCE = "for a picture, a style or a program of a page"

Asked = TypeVar("Asked")


def log_of(file: Path, log_format: str | None) -> AccessLog:
    """Return what a log has; `UserError` where it is none. It is read once, unless it changes."""
    return _log_of(file, file.stat().st_mtime_ns, log_format)


@lru_cache(maxsize=2)
def _log_of(file: Path, _changed_ns: int, log_format: str | None) -> AccessLog:
    return read_log(file, log_format)


def why_not(line: Line) -> str | None:
    """Return why nobody asks for it again, in words that follow a number; None if users do."""
    if not line.method or not line.target:
        return "without a request that can be read"
    if line.method != "GET":
        return "by another method than GET"
    if not 200 <= line.status < FAILED:
        return "not answered with a status from 200 to 399"
    if not line.target.startswith("/") or not all("!" <= each <= "~" for each in line.target):
        return "for an address that cannot be sent"
    return "with a token or a password in the address" if _tells_secret(line.target) else None


def can_be_asked(line: Line) -> bool:
    """Whether asking again makes sense, and tells no secret."""
    return why_not(line) is None


def is_resource(line: Line) -> bool:
    """Whether it is a part of a page: a picture, a style, a program."""
    return line.target.partition("?")[0].lower().endswith(RESOURCE_ENDS)


def sessions(asked: Sequence[Asked], line: Callable[[Asked], Line]) -> list[list[Asked]]:
    """Return what one visitor asked for, cut where it was away for long; `asked` is not empty."""
    found = [[asked[0]]]
    for before, after in pairwise(asked):
        if seconds_between(line(before), line(after)) > SESSION_GAP_S:
            found.append([])
        found[-1].append(after)
    return found


def seconds_between(before: Line, after: Line) -> float:
    """Return the time from one request to the next."""
    return (after.time_ns - before.time_ns) / 1e9


def _tells_secret(target: str) -> bool:
    return any(
        slot.name and slot.place == "query" and is_sensitive(slot.name, slot.value)
        for slot in target_slots(target)
    )
