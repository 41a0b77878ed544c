"""What `opreport --symbols` prints of a profile of OProfile's (oprofile.sourceforge.io)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.tables.manifest import Phase

TIMER = "timer"
"""The event where OProfile had no counters and sampled by the clock's interrupt."""

_COUNTED = re.compile(r"Counted (?P<event>\S+) events .* count (?P<period>\d+)$")
_BY_TIMER = "Profiling through timer interrupt"
_IMAGE = r"(?P<{}>\S+(?: \([^)]*\))?)"
_UNKNOWN = "(no symbols)"


@dataclass(frozen=True)
class Line:
    """A function's samples of an event."""

    event: str
    period: int | None
    """Events from sample to sample; None of the clock."""
    samples: int
    binary: str
    symbol: str | None


def read_opreport(file: Path) -> Iterator[Line]:
    """The lines of its table; `UserError` if there is none."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror}): name another file.") from error
    events: list[tuple[str, int | None]] = []
    row: re.Pattern[str] | None = None
    for line in map(str.strip, text.splitlines()):
        if (counted := _COUNTED.match(line)) is not None:
            events.append((counted["event"], int(counted["period"])))
        elif line == _BY_TIMER:
            events.append((TIMER, None))
        elif line.startswith("samples") and "symbol name" in line:
            row = _row(len(events), "image name" in line, "app name" in line)
        elif row is not None and (found := row.fullmatch(line)) is not None:
            yield from _lines(found, events)
    if not events or row is None:
        raise UserError(
            f"{file} has no table as `opreport --symbols` prints it: name another file."
        )


def _row(events: int, has_image: bool, has_app: bool) -> re.Pattern[str]:
    """A line of the table: samples and their share of each event, then where they are."""
    columns = [rf"(?P<n{number}>\d+)\s+[\d.e+-]+" for number in range(events)]
    columns += [_IMAGE.format("image")] if has_image else []
    columns += [_IMAGE.format("program")] if has_app else []
    return re.compile(r"\s+".join([*columns, r"(?P<symbol>.+)"]))


def _lines(found: re.Match[str], events: list[tuple[str, int | None]]) -> Iterator[Line]:
    named = found.groupdict()
    binary = named.get("image") or named.get("program") or ""
    symbol = None if found["symbol"] == _UNKNOWN else found["symbol"]
    for number, (event, period) in enumerate(events):
        if samples := int(found[f"n{number}"]):
            yield Line(event, period, samples, binary, symbol)


def counters_of(lines: Iterable[Line], phase: Phase, domain: str) -> Iterator[dict[str, Any]]:
    """Rows of `counters`: what was counted in the whole phase."""
    for line in lines:
        yield {
            "t_ns": phase.end_ns - 1,
            "dt_ns": phase.end_ns - phase.start_ns,
            "cpu": None,
            "domain": domain,
            "binary": line.binary,
            "symbol": line.symbol,
            "event": line.event,
            "count": line.samples * (line.period or 1),
            "source": "software" if line.period is None else "pmu",
            "period": line.period or 1,
            "stack": None,
        }
