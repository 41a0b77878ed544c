"""Visits of a shop, as the access logs of different servers have them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tierlab.workloads.own.logged import FIRST, logged
from tierlab.workloads.own.replayed import replayed
from tierlab.workloads.sessions.delay import think

VISITORS = 24
PAGES = ("/", "/shop", "/item/{n}?from=shop", "/cart", "/shop")
GAPS_S = (0, 5, 11, 18, 24)
START = datetime(2026, 3, 4, 23, 58, 0, tzinfo=UTC)
PROXIES = ("198.51.100.9", "198.51.100.10", "10.0.0.1")
AGENTS = ("Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0", "Mozilla/5.0 (Macintosh) Safari/605.1")


@dataclass(frozen=True)
class Asked:
    """A request of one of the visitors."""

    number: int
    """The visitor's."""
    at: datetime
    target: str

    @property
    def ip(self) -> str:
        return f"203.0.113.{self.number + 1}"

    @property
    def agent(self) -> str:
        return AGENTS[self.number % 2]

    @property
    def clf(self) -> str:
        return self.at.strftime("%d/%b/%Y:%H:%M:%S +0000")

    @property
    def iso(self) -> str:
        return self.at.strftime("%Y-%m-%dT%H:%M:%S+00:00")

    @property
    def line(self) -> str:
        return f"GET {self.target} HTTP/1.1"

    @property
    def seconds(self) -> int:
        return int(self.at.timestamp())


Write = Callable[[Asked], str]


def asked() -> list[Asked]:
    """What all visitors ask for, in order of time: each begins 7 s after the one before."""
    found = [
        Asked(number, START + timedelta(seconds=number * 7 + gap), page.format(n=number))
        for number in range(VISITORS)
        for gap, page in zip(GAPS_S, PAGES, strict=True)
    ]
    return sorted(found, key=lambda each: each.at)


REQUESTS = len(asked())


def text(write: Write, *, before: Iterable[str] = (), between: Iterable[str] = ()) -> str:
    """A log of all visits; the lines `between` stand behind each tenth."""
    lines = [*before]
    for number, each in enumerate(asked()):
        lines.append(write(each))
        if number % 10 == 9:
            lines += between
    return "\n".join(lines) + "\n"


def log(folder: Path, write: Write, **extra: Iterable[str]) -> Path:
    """A file with a log of all visits."""
    file = folder / "access.log"
    file.write_text(text(write, **extra), encoding="utf-8")
    return file


def combined(each: Asked, *, client: str | None = None, user: str = "-", tail: str = "") -> str:
    """A line of the combined format, with a field of one's own at its end."""
    who = each.ip if client is None else client
    return f'{who} - {user} [{each.clf}] "{each.line}" 200 12 "-" "{each.agent}"{tail}'


def haproxy(each: Asked, headers: str = "") -> str:
    """A line of `option httplog`."""
    at = each.at.strftime("%d/%b/%Y:%H:%M:%S.250")
    return (
        f"{each.ip}:5{each.number:04} [{at}] web~ shop/a1 0/0/1/12/13 200 1873 - - ----"
        f' 3/3/1/1/0 0/0{headers} "{each.line}"'
    )


def of_json(each: Asked, **keys: Any) -> str:
    """A line of JSON; of texts, the fields in braces are filled in."""
    return json.dumps(_filled(keys, each))


def _filled(value: Any, each: Asked) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, each) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, each) for item in value]
    if callable(value):
        return value(each)
    return value.format(each=each) if isinstance(value, str) else value


def proxy(each: Asked) -> str:
    """The address of the proxy that a visitor's requests come by."""
    return PROXIES[each.number % 2]


def check(file: Path, *, log_format: str | None = None) -> None:
    """The visits of all visitors are found, with their paths and think times."""
    found = logged(file, {}, own_think=True, log_format=log_format)
    begins = next(state for state in found["states"] if state["name"] == FIRST)["row"]
    assert begins["weights"] == [VISITORS], "each visitor begins once, at the same page"
    assert f"{REQUESTS} of " in found["name"]
    transitions = found["sessions"][0]["transitions"]
    assert transitions[FIRST] == [("/shop", 1.0)]
    assert transitions["/item/{id}"] == [("/cart", 1.0)]
    assert dict(transitions["/shop"]) == {"/item/{id}": 0.5, "End": 0.5}
    delays = {state["name"]: state.get("delay") for state in found["states"]}
    assert delays["/item/{id}"] == think(7_000_000_000)
    visits = replayed(file, {}, log_format)["visits"]
    assert [len(visit) for visit in visits] == [REQUESTS // VISITORS] * VISITORS
    assert visits[3][2][2] == "/item/3?from=shop", "with the query"
