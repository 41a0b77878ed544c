"""Text that ``perf script`` has printed; the file may be compressed, cut, or something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tierlab.errors import UserError
from tierlab.exchange.compressed import START, is_compressed
from tierlab.exchange.log_lines.files import LogFile
from tierlab.exchange.perf_script import HAS_TIME, Damage, Record, Sample, Unread, records

PRINT = "`perf script --header --ns --no-inline`"
_REPORT = re.compile(r"# (?:Overhead|Samples: )")
_FOLDED = re.compile(r"\S[^\t]*;[^\t]* \d+")
_ENDS = (")", ":")
"""How nearly all lines end that are whole."""
_SHOWN = 100


@dataclass
class _Text:
    """The lines of a file, and what kinds of line it has."""

    path: Path
    damage: str | None = None
    count: int = 0
    folded: int = 0
    is_report: bool = False
    first: str = ""
    """Its first line that is not empty."""
    _ends: bool = field(init=False)

    def __post_init__(self) -> None:
        self._ends = _ends_in_line(self.path)

    def lines(self) -> Iterator[str]:
        """Yield the lines; of a file that ends within a line, not that one."""
        file = LogFile(self.path)
        last: str | None = None
        for line in file.lines():
            if last is not None:
                yield last
            last = line
            self._look(line)
        is_whole = last is not None and last.rstrip().endswith(_ENDS)
        if file.damage is not None:
            self.damage = f"cannot be read to its end ({file.damage})"
        elif not self._ends and not is_whole:
            self.damage = "ends within a line, as a file that was cut"
        if last is not None and (self.damage is None or is_whole):
            yield last

    def _look(self, line: str) -> None:
        self.count += 1
        self.folded += _FOLDED.fullmatch(line) is not None
        self.is_report |= _REPORT.match(line) is not None
        self.first = self.first or line.strip()


def _ends_in_line(path: Path) -> bool:
    with path.open("rb") as file:
        if is_compressed(file.read(START)):
            return True
        file.seek(0, 2)
        if file.tell() == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) in b"\n\r\0"


def printed(file: Path) -> Iterator[Record]:
    """Return the records of a text; raise :class:`UserError` if it has no sample."""
    text = _Text(file)
    unread: Unread | None = None
    any_sample = False
    for record in records(text.lines()):
        any_sample |= isinstance(record, Sample)
        if isinstance(record, Unread) and (unread is None or record.is_sample > unread.is_sample):
            unread = record
        yield record
    if not any_sample:
        raise UserError(f"{file} {_instead(text, unread)}")
    if text.damage is not None:
        yield Damage(text.damage)


def _instead(text: _Text, unread: Unread | None) -> str:
    """Return what the text is, and what to do: how a sentence about the file goes on."""
    if unread is not None and unread.is_sample:
        shown = f"line {unread.line} is '{unread.text[:_SHOWN]}'"
        if HAS_TIME.search(unread.text) is None:
            return (
                f"has no times: {shown}. Print it with {PRINT}, or with `time` among"
                " the fields of --fields (-F)."
            )
        return (
            f"has no sample with process, time and event ({shown}): print it with {PRINT}, or with"
            " `pid`, `time` and `event` among the fields of --fields (-F)."
        )
    return _other_file(text)


def _other_file(text: _Text) -> str:
    if text.folded > text.count / 2:
        what = "has folded stacks, which have no times"
    elif text.is_report:
        what = "is a table of `perf report`, which has no times"
    elif text.damage is not None:
        return f"{text.damage}, and there is no sample before its end: copy it again."
    else:
        first = f"it begins with '{text.first[:_SHOWN]}'" if text.first else "it is empty"
        return (
            "is neither a recording of perf's nor has it a sample as `perf script` prints them"
            f" ({first}): name a perf.data, or what {PRINT} has printed."
        )
    return f"{what}: import the perf.data that it is made from, or what {PRINT} prints of it."
