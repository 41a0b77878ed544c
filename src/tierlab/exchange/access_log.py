"""Access logs of web servers: the requests that a file has, and what was not understood of it.

Each line is read by itself, so a file may mix formats: the common and the combined one with what is
put around them (`log_lines.text_lines`), HAProxy's, JSON, and the W3C's extended one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.exchange.log_lines.entry import Entry
from tierlab.exchange.log_lines.files import LogFile
from tierlab.exchange.log_lines.given import GivenFormat
from tierlab.exchange.log_lines.haproxy import haproxy_entry
from tierlab.exchange.log_lines.json_lines import (
    JsonLog,
    is_of_program,
    json_object,
    looks_like_request,
    wrapped,
)
from tierlab.exchange.log_lines.text_lines import text_entry
from tierlab.exchange.log_lines.visitors import Visitors
from tierlab.exchange.log_lines.w3c import ExtendedLog

MOST_LINES = 5_000_000
MOST_NOT_UNDERSTOOD = 0.1
"""Share of the lines that look like requests; a log of which more are not understood is refused."""
FORMATS = (
    "the common and the combined format (Apache, nginx, Traefik), JSON (nginx, Caddy, Traefik),"
    " HAProxy's and the W3C extended format (IIS)"
)
_SHOWN = 120
_CLF_TIME = re.compile(r"\d{2}/[A-Z][a-z]{2}/\d{4}[: ]\d{2}:\d{2}")
_METHOD = re.compile(r"\b(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS)\b|\bHTTP/\d")
_STATUS = re.compile(r"(?<![\w.:/,-])[1-5]\d\d(?![\w.:/-])")
_OF_ERROR_LOG = re.compile(
    r"(?:\S+ +\| )?(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[\w+\]|"  # nginx
    r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ [\d:.]+ \d{4}\] \[|"  # Apache
    r"\[\d\d-[A-Z][a-z]{2}-\d{4} [\d:]+(?: \w+)?\] )"  # PHP
)
_VALUES = re.compile(r"=[^\s\"&,;]+")
"""Values that an example does not show, as one may be a secret."""
_COMPOSE = re.compile(r"(?P<service>[\w.-]+?)(?:[-_]\d+)? +\| ")


@dataclass(frozen=True, slots=True)
class Line:
    """One request."""

    time_ns: int
    """Since the epoch; most formats have whole seconds."""
    address: str
    """The visitor's; empty where the log does not know it."""
    user: str
    agent: str
    method: str
    target: str
    host: str
    status: int

    @property
    def client(self) -> str:
        """Address, user and browser together: who is one visitor."""
        return f"{self.address} {self.user} {self.agent}"


@dataclass
class Passed:
    """Lines of one kind that are no requests for the load, and the first of them."""

    count: int = 0
    first: str = ""
    """Its number in the file, and its beginning."""

    def add(self, number: int, text: str) -> None:
        """Count a line."""
        if not self.count:
            shown = _VALUES.sub("=...", text.strip())
            cut = f"{shown[:_SHOWN]}..." if len(shown) > _SHOWN else shown
            printable = "".join(each if each.isprintable() else "?" for each in cut)
            self.first = f"line {number}, {printable!r}"
        self.count += 1


@dataclass
class AccessLog:
    """What a file has."""

    lines: Sequence[Line] = ()
    """In order of time."""
    not_understood: Passed = field(default_factory=Passed)
    """Lines that look like requests."""
    others: Passed = field(default_factory=Passed)
    """Lines that do not: messages and traces, for instance."""
    formats: Counter[str] = field(default_factory=Counter)
    services: Counter[str] = field(default_factory=Counter)
    """Requests by service, in what docker compose shows of several."""
    forwarded: Sequence[str] = ()
    """The fields from which the visitors' addresses are taken, as proxies forwarded them."""
    damage: str | None = None
    """Why the file could not be read to its end."""


def read_access_log(path: Path, log_format: str | None = None) -> list[Line]:
    """Return the requests of a log in order of time; see `read_log`."""
    return list(read_log(path, log_format).lines)


def read_log(path: Path, log_format: str | None = None) -> AccessLog:
    """Return the requests of a log, and what was not understood of it. `log_format` is the format
    as the server's configuration has it; without it, each line is recognised by itself.

    Raises `UserError` where the file cannot be read, has no request, or has more than
    `MOST_NOT_UNDERSTOOD` of its requests in no known format.
    """
    reader = _Reader(None if log_format is None else GivenFormat(log_format))
    file = LogFile(path)
    for number, text in enumerate(file.lines(), 1):
        if number > MOST_LINES:
            raise UserError(f"{path}: has over {MOST_LINES} lines; give a part of it.")
        if text.strip():
            reader.add(number, text)
    found = reader.log
    found.damage = file.damage
    _refuse(path, reader, given=log_format is not None)
    visitors = Visitors(reader.entries)
    found.forwarded = visitors.forwarded
    found.lines = sorted(
        (_line(each, visitors) for each in reader.entries), key=lambda line: line.time_ns
    )
    return found


def _line(entry: Entry, visitors: Visitors) -> Line:
    return Line(
        entry.time_ns,
        visitors.address(entry),
        entry.user,
        entry.agent,
        entry.method,
        entry.target,
        entry.host,
        entry.status,
    )


def _refuse(path: Path, reader: _Reader, *, given: bool) -> None:
    log, read = reader.log, len(reader.entries)
    wrong = log.not_understood.count
    if read and wrong <= (read + wrong) * MOST_NOT_UNDERSTOOD:
        return
    known = "the format of log_format" if given else FORMATS
    remedy = "correct log_format" if given else "say the format by log_format"
    if log.damage and not read:
        raise UserError(f"{path}: is damaged: {log.damage}.")
    if read:
        raise UserError(
            f"{path}: {wrong} of its {read + wrong} lines that look like requests were not"
            f" understood; the first is {log.not_understood.first}. Read are {known}; {remedy},"
            " or take these lines out."
        )
    total = wrong + log.others.count
    first = log.not_understood.first or log.others.first
    example = f"; the first is {first}" if first else ""
    lacking = f". Its lines of JSON have {reader.json_lacks}" if reader.json_lacks else ""
    raise UserError(
        f"{path}: is no access log that Tierlab reads: it understood 0 of {total} lines"
        f"{example}{lacking}. Read are {known}; {remedy}, or have the web server write one of them."
    )


class _Reader:
    """Reads one line after the other."""

    def __init__(self, given: GivenFormat | None) -> None:
        self.log = AccessLog()
        self.entries: list[Entry] = []
        self._given = given
        self._json = JsonLog()
        self._extended = ExtendedLog()

    def add(self, number: int, text: str) -> None:
        """Read a line, and count it."""
        if text.startswith("#") and self._extended.directive(text):
            return
        entry, is_request = self._read(text)
        if entry is not None:
            self.entries.append(entry)
            self.log.formats[entry.form] += 1
            if "|" in text and (found := _COMPOSE.match(text)):
                self.log.services[found["service"]] += 1
        elif is_request:
            self.log.not_understood.add(number, text)
        else:
            self.log.others.add(number, text)

    @property
    def json_lacks(self) -> str:
        """What the JSON lines lack, and their keys; empty where that is unknown."""
        if not self._json.lacking:
            return ""
        keys = ", ".join(self._json.keys[:12])
        return f"no {' and no '.join(sorted(self._json.lacking))} among the keys {keys}"

    def _read(self, text: str) -> tuple[Entry | None, bool]:
        """Return the request of a line, and whether a line without one looks like a request."""
        if self._given is not None:
            entry = self._given.entry(text)
            return entry, entry is None and _looks_like_request(text)
        if "{" in text and (found := json_object(text)) is not None:
            return self._read_json(text, found)
        if _OF_ERROR_LOG.match(text):
            return None, False
        entry = self._extended.entry(text) or haproxy_entry(text) or text_entry(text)
        return entry, entry is None and _looks_like_request(text)

    def _read_json(self, text: str, found: Mapping[str, Any]) -> tuple[Entry | None, bool]:
        if is_of_program(found):
            return None, False
        entry = self._json.entry(found)
        if entry is not None or looks_like_request(found):
            return entry, entry is None
        inner = wrapped(found)
        return (None, False) if inner is None or inner == text else self._read(inner)


def _looks_like_request(text: str) -> bool:
    """Whether a line seems to tell of a request: it has a method or a version of HTTP, and a status
    or a time as access logs write it.
    """
    if _OF_ERROR_LOG.match(text) or _METHOD.search(text) is None:
        return False
    return _STATUS.search(text) is not None or _CLF_TIME.search(text) is not None
