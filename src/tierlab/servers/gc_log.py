"""HotSpot's log of collections and safepoints: when, how long and why Java's threads stood still.

The log is unified logging (JEP 158, JEP 271) of ``gc*`` and ``safepoint`` with the decorations
``timemillis`` and ``uptimenanos``. A stop is one `Pause`: its end is the moment of its line
``Safepoint "..."``, its length that line's ``Total``, which has the time to reach the safepoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tierlab.errors import UserError

NS_PER_MS = 1_000_000
WINDOW_NS = 30_000_000_000

_LINE = re.compile(r"\[(\d+)ms\]\[(\d+)ns\]\[([\w,]+) *\] (.*)")
_SAFEPOINT = re.compile(r'Safepoint "([^"]+)", .*Total: +(\d+) ns$')
_COLLECTION = re.compile(r"GC\(\d+\) (Pause .*?)(?: \d+[KMG]->\d+[KMG]\(\d+[KMG]\))? ([\d.]+)ms$")


@dataclass(frozen=True)
class Pause:
    """All Java threads stood still."""

    start_ns: int
    """Since the epoch: from then on threads were being stopped."""
    duration_ns: int
    is_collection: bool
    cause: str
    """The collector's words (several of one stop joined), else the VM's operation."""


@dataclass(frozen=True)
class _Line:
    millis: int
    uptime_ns: int
    tags: str
    text: str


def pauses(log: Iterable[str]) -> list[Pause]:
    """Read a log, which may end in the middle of a line, into its stops in order of their end.

    Raises :class:`UserError` for a text that has no line of such a log.
    """
    lines = [line for line in map(_parsed, log) if line is not None]
    if not lines:
        raise UserError(
            "no line has a time in milliseconds and an uptime in nanoseconds; log with"
            " -Xlog:gc*,safepoint:file=...:timemillis,uptimenanos,tags"
        )
    clock = _Clock(lines)
    return list(_stops(lines, clock))


def _parsed(text: str) -> _Line | None:
    match = _LINE.fullmatch(text.rstrip("\n"))
    if match is None:
        return None
    return _Line(int(match[1]), int(match[2]), match[3], match[4])


def _stops(lines: Iterable[_Line], clock: _Clock) -> Iterator[Pause]:
    collections: list[tuple[_Line, str, int]] = []
    for line in lines:
        if collected := _COLLECTION.match(line.text):
            collections.append((line, collected[1], int(float(collected[2]) * NS_PER_MS)))
        elif safepoint := _SAFEPOINT.match(line.text):
            total_ns = int(safepoint[2])
            # Nothing is collected while threads run, so what came before is of this stop.
            causes = [cause for _, cause, _ in collections]
            start_ns = clock.epoch_ns(line.uptime_ns) - total_ns
            cause = "; ".join(causes) if causes else safepoint[1]
            yield Pause(start_ns, total_ns, bool(causes), cause)
            collections.clear()
    for line, cause, took_ns in collections:  # the log was cut before their safepoint's line
        yield Pause(clock.epoch_ns(line.uptime_ns) - took_ns, took_ns, True, cause)


class _Clock:
    """From uptime to the time since the epoch, closer than the log's milliseconds.

    A line's milliseconds are rounded down and read before its uptime, so that each line gives a
    lower bound of the difference of the two clocks; the greatest of many is less than a
    millisecond off. Bounds are of lines nearby, so that a step of the clock does no lasting harm.
    """

    def __init__(self, lines: Iterable[_Line]) -> None:
        self._bounds: dict[int, int] = {}
        for line in lines:
            window = line.uptime_ns // WINDOW_NS
            bound = line.millis * NS_PER_MS - line.uptime_ns
            self._bounds[window] = max(bound, self._bounds.get(window, bound))

    def epoch_ns(self, uptime_ns: int) -> int:
        """When that uptime was; of a moment at which a line was written."""
        window = uptime_ns // WINDOW_NS
        near = (self._bounds.get(at) for at in (window - 1, window, window + 1))
        return uptime_ns + max(bound for bound in near if bound is not None)
