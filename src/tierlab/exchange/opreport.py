"""What `opreport --symbols` prints of a profile of OProfile's (oprofile.sourceforge.io)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.tables.manifest import Phase

TIMER = "timer"
"""The event where OProfile had no counters and sampled by the clock's interrupt."""
MOST_NOT_UNDERSTOOD = 0.1
"""Share of the table's lines; a table of which more are not understood is refused."""

_COUNTED = re.compile(r"Counted (?P<event>\S+) events .* count (?P<period>\d+)$")
_BY_TIMER = "Profiling through timer interrupt"
_SHARE = r"(?:[\d.]+(?:e[+-]?\d+)?|-?nan|n/a)"
_IMAGES = (r"(?P<{}>\S+(?: \S+)*)", r"(?P<{}>\S+(?: \([^)]*\))?)")
_GAPS = (r"\s{2,}", r"\s+")
"""Names that have blanks are told apart by the columns' wider gaps, unless one fills its column."""
_UNKNOWN = "(no symbols)"
_SHOWN = 100


@dataclass(frozen=True)
class Line:
    """A function's samples of an event."""

    event: str
    period: int | None
    """Events from sample to sample; None of the clock."""
    samples: int
    binary: str
    symbol: str | None


@dataclass
class Table:
    """A table's lines, and what was not understood of it."""

    lines: list[Line] = field(default_factory=list)
    rows: int = 0
    unread: list[str] = field(default_factory=list)

    def notes(self, file: str) -> list[str]:
        """Return a sentence if lines were not understood."""
        if not self.unread:
            return []
        return [
            f"{file}: {len(self.unread)} of {self.rows + len(self.unread)} lines of its table were"
            f" not understood and are left out, such as '{self.unread[0][:_SHOWN]}'."
        ]


def read_opreport(file: Path) -> Table:
    """Return its table. Raises :class:`UserError` if there is none, or too much of it is not
    understood.
    """
    try:
        text = file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror}): name another file.") from error
    events: list[tuple[str, int | None]] = []
    forms: list[re.Pattern[str]] = []
    table = Table()
    for line in filter(None, map(str.strip, text.splitlines())):
        if (counted := _COUNTED.match(line)) is not None:
            events.append((counted["event"], int(counted["period"])))
        elif line == _BY_TIMER:
            events.append((TIMER, None))
        elif "samples" in line and "symbol name" in line:
            forms = [_row(line, len(events), *each) for each in zip(_IMAGES, _GAPS, strict=True)]
        elif (found := next(filter(None, (f.fullmatch(line) for f in forms)), None)) is not None:
            table.rows += 1
            table.lines.extend(_lines(found, events))
        elif forms:
            table.unread.append(line)
    if not events or not forms:
        raise UserError(
            f"{file} has no table as `opreport --symbols` prints it: name another file."
        )
    _check(table, file)
    return table


def _check(table: Table, file: Path) -> None:
    unread, every = len(table.unread), table.rows + len(table.unread)
    if unread > MOST_NOT_UNDERSTOOD * every:
        raise UserError(
            f"{file}: {unread} of {every} lines of its table are not understood, such as"
            f" '{table.unread[0][:_SHOWN]}': print it with `opreport --symbols` alone."
        )


def _row(header: str, events: int, image: str, gap: str) -> re.Pattern[str]:
    """Return the pattern of the table's lines: samples and their share of each event, and where
    they are.
    """
    counts = [r"[0-9a-f]+"] if header.startswith("vma") else []
    counts += [rf"(?P<n{number}>\d+)\s+{_SHARE}" for number in range(events)]
    counts += [r"(?:\S+:\d+|\(no location information\))"] if "linenr info" in header else []
    names = [image.format("image")] if "image name" in header else []
    names += [image.format("program")] if "app name" in header else []
    counts_form, names_form = r"\s+".join(counts), gap.join([*names, r"(?P<symbol>\S.*)"])
    return re.compile(rf"{counts_form}\s+{names_form}")


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
