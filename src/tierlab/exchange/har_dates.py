"""When a recorded request began, whatever form its date has, and the order of a recording."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any

from tierlab.values.quantities import SECOND

JUMP_NS = 86_400 * SECOND
"""No pause of a visit: the clock was set, or the file was put together of several."""
LARGEST_SECONDS = 1e11
"""A number of seconds since the epoch is below it; so are thousandths by a thousand ..."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_JSON_DATE = re.compile(r"/Date\(([+-]?\d+)(?:[+-]\d{4})?\)/")
_SCRIPT_DATE = re.compile(
    r"(?:[A-Z][a-z]{2},? )?([A-Z][a-z]{2}) (\d{1,2}),? (\d{4}) ([\d:]+) (?:GMT|UTC)([+-]\d{4})?.*"
)
"""What a browser's program makes of a date."""
_ISO = re.compile(r"\d{4}-?\d\d")
_BLANK_BEFORE_ZONE = re.compile(r"\s+(?=(?:[+-]\d\d:?\d\d|Z)$)")


def nanoseconds(said: Any) -> int | None:
    """Return a date as nanoseconds since the epoch; None where it cannot be read.

    Read are ISO 8601, RFC 1123 (`Tue, 05 Oct 2021 09:03:50 GMT`), what JavaScript and .NET write,
    and numbers since the epoch: seconds, milliseconds, microseconds or nanoseconds by their size.
    A date without a zone is taken as UTC.
    """
    if isinstance(said, bool) or said is None:
        return None
    if isinstance(said, int | float):
        return _of_number(float(said))
    text = str(said).strip()
    if _NUMBER.fullmatch(text) and not re.fullmatch(r"\d{4}|\d{8}", text):
        return _of_number(float(text))
    if (found := _JSON_DATE.fullmatch(text)) is not None:
        return _of_number(float(found[1]))
    if (found := _SCRIPT_DATE.fullmatch(text)) is not None:
        text = f"{found[2]} {found[1]} {found[3]} {found[4]} {found[5] or '+0000'}"
    if _ISO.match(text):
        text = _BLANK_BEFORE_ZONE.sub("", text.upper())
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = read(text)
            date = date if date.tzinfo else date.replace(tzinfo=UTC)
            return round(date.timestamp() * 1e9)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def _of_number(value: float) -> int | None:
    """A number since the epoch; 0 and what is before it is no date."""
    if not math.isfinite(value) or value <= 0:
        return None
    unit = next(each for each in count() if value < LARGEST_SECONDS * 1000**each)
    return round(value * 1e9 / 1000**unit) if unit <= 3 else None


@dataclass(frozen=True)
class Starts:
    """When the requests of a recording began, in the file's order."""

    at_ns: tuple[int, ...]
    undated: tuple[int, ...]
    """Numbers, from 0, of those without a date that can be read."""
    jumps: tuple[int, ...]
    """Numbers of those before which the clock jumps by more than a day."""


def starts(dates: Sequence[int | None], lengths_ns: Sequence[int]) -> Starts:
    """Return when requests began. One without a date began when the one before it ended; after a
    jump of the clock, dates go on from where they were: the file's order stays.
    """
    first = next((number for number, date in enumerate(dates) if date is not None), 0)
    shifted = (dates[first] or 0) - sum(lengths_ns[:first]) if dates else 0
    at_ns: list[int] = []
    undated: list[int] = []
    jumps: list[int] = []
    offset, before, end = 0, None, shifted
    for number, (date, length) in enumerate(zip(dates, lengths_ns, strict=True)):
        if date is None:
            undated.append(number)
            began = at_ns[-1] + lengths_ns[number - 1] if at_ns else shifted
        else:
            if before is not None and abs(date - before) > JUMP_NS:
                jumps.append(number)
                offset = end - date
            before = date
            began = date + offset
        at_ns.append(began)
        end = max(end, began + length)
    return Starts(tuple(at_ns), tuple(undated), tuple(jumps))
