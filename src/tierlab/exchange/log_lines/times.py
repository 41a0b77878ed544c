"""Times as access logs write them."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache

SECOND = 1_000_000_000
MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_OF_DAY = r"\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?: ?(?:[+-]\d{2}:?\d{2}|UTC|GMT|Z))?"
CLF = rf"\d{{1,2}}/[A-Za-z]{{3}}/\d{{4}}[: ]{_OF_DAY}"
"""A time of the common log format, with or without a fraction and a zone."""
ISO = rf"\d{{4}}-\d{{2}}-\d{{2}}[T ]{_OF_DAY}"
_CLF = re.compile(
    r"(\d{1,2})/([A-Za-z]{3})/(\d{4})[: ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?"
    r"(?: ?(?:([+-])(\d{2}):?(\d{2})|UTC|GMT|Z))?"
)
_NUMBER = re.compile(r"\d{9,10}(?:\.\d+)?|\d{13}(?:\.\d+)?|\d{16}|\d{19}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_ns(value: object) -> int | None:
    """Return the nanoseconds since the epoch of a time: a number of s, ms, us or ns, or a text in
    the form of the common log format, ISO 8601 or RFC 1123. None for anything else. A time without
    a zone is read as UTC.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _of_number(f"{value:.6f}" if isinstance(value, float) else str(value))
    return _of_text(value.strip(" []\t\"'")) if isinstance(value, str) else None


@lru_cache(maxsize=65536)
def _of_text(text: str) -> int | None:
    if _NUMBER.fullmatch(text):
        return _of_number(text)
    if (found := _CLF.fullmatch(text)) is not None:
        return _of_clf(found)
    moment = None
    with suppress(ValueError, OverflowError):
        plain = re.sub(r" ?(?:UTC|GMT)$", "Z", text).replace(",", ".")
        plain = re.sub(r" (?=[+-]\d{2}:?\d{2}$)", "", plain)
        moment = datetime.fromisoformat(re.sub(r"^(\d{4})/(\d\d)/(\d\d)", r"\1-\2-\3", plain))
    if moment is None and text[:1].isalpha():
        with suppress(ValueError, TypeError, IndexError):
            moment = parsedate_to_datetime(text)
    if moment is None or len(text) < len("2026-01-01T00:00"):
        return None
    return _since_epoch(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _of_number(text: str) -> int | None:
    whole, _, fraction = text.partition(".")
    if not _NUMBER.fullmatch(text):
        return None
    unit = int("1".ljust(20 - max(len(whole), 10), "0"))
    return int(whole) * unit + int(f"{fraction:0<9}"[:9]) * unit // SECOND


def _of_clf(found: re.Match[str]) -> int | None:
    day, name, year, hour, minute, second, fraction, sign, zone_h, zone_m = found.groups()
    month = MONTHS.get(name.lower())
    if month is None:
        return None
    zone = UTC
    if sign:
        offset = timedelta(hours=int(zone_h), minutes=int(zone_m))
        zone = timezone(-offset if sign == "-" else offset)
    with suppress(ValueError):
        moment = datetime(
            int(year), month, int(day), int(hour), int(minute), min(int(second), 59), tzinfo=zone
        )
        return _since_epoch(moment) + int(f"{fraction or '':0<9}"[:9])
    return None


def _since_epoch(moment: datetime) -> int:
    past = moment - _EPOCH
    return (past.days * 86400 + past.seconds) * SECOND + past.microseconds * 1000
