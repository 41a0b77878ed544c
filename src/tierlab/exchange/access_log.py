"""Access logs in the common and the combined format of web servers.

Source: Apache HTTP Server's documentation of mod_log_config; nginx's ``combined`` is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tierlab.errors import UserError

MOST_LINES = 5_000_000
_LINE = re.compile(
    r"(?P<client>\S+) \S+ (?P<user>\S+) \[(?P<time>[^\]]+)\]"
    r' "(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) (?:\d+|-)'
    r'(?: "(?:[^"\\]|\\.)*" "(?P<agent>(?:[^"\\]|\\.)*)")?'
)
_TIME = "%d/%b/%Y:%H:%M:%S %z"


@dataclass(frozen=True, slots=True)
class Line:
    """One request. Its time, in seconds since the epoch, is whole: the formats have no more."""

    time_s: int
    client: str
    """Address, user and browser together: who is one visitor."""
    method: str
    target: str
    status: int


def read_access_log(path: Path) -> list[Line]:
    """The requests of a log in order of time; `UserError` where it is none.

    Lines that are none are passed over, as long as they are fewer than half.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = list(_lines(file, path))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}.") from None
    good = [line for line in found if line is not None]
    if len(good) * 2 < len(found) or not good:
        raise UserError(
            f"{path}: is no access log in the common or the combined format ({len(good)} of its"
            f" {len(found)} lines are); have the web server write one of them."
        )
    return sorted(good, key=lambda line: line.time_s)


def _lines(file: Iterator[str], path: Path) -> Iterator[Line | None]:
    for number, text in enumerate(file):
        if number >= MOST_LINES:
            raise UserError(f"{path}: has over {MOST_LINES} lines; give a part of it.")
        if text.strip():
            yield _line(text)


def _line(text: str) -> Line | None:
    found = _LINE.match(text)
    if found is None:
        return None
    method, _, rest = found["request"].partition(" ")
    target = rest.rpartition(" ")[0] if " HTTP/" in f" {rest}" else rest
    try:
        time_s = int(datetime.strptime(found["time"], _TIME).timestamp())
    except ValueError:
        return None
    client = f"{found['client']} {found['user']} {found['agent'] or ''}"
    return Line(time_s, client, method, target, int(found["status"]))
