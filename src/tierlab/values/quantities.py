"""Durations and sizes with their units: `"1.5s"` is 1_500_000_000 ns, `"2KiB"` 2048 bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
BYTES = {
    "B": 1,
    "kB": 10**3,
    "KiB": 2**10,
    "MB": 10**6,
    "MiB": 2**20,
    "GB": 10**9,
    "GiB": 2**30,
    "TB": 10**12,
    "TiB": 2**40,
}
MILLISECOND = NANOSECONDS["ms"]
SECOND = NANOSECONDS["s"]
MIB = BYTES["MiB"]


def parse_quantity(text: str, units: Mapping[str, int]) -> int | None:
    """`"1.5s"` in the smallest unit, or None when it is not a whole number of that unit."""
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,9})?) ?([A-Za-z]{1,3})", text, re.ASCII)
    if match is None or match[2] not in units:
        return None
    quantity = Fraction(match[1]) * units[match[2]]
    return int(quantity) if quantity.denominator == 1 else None


def format_quantity(quantity: int, units: Mapping[str, int], zero: str) -> str:
    """The shortest exact form: the largest unit that divides the quantity."""
    if quantity == 0:
        return f"0{zero}"
    unit = max((u for u in units if quantity % units[u] == 0), key=lambda u: units[u])
    return f"{quantity // units[unit]}{unit}"


def format_duration(nanoseconds: int) -> str:
    """`2_000_000_000` as `"2s"`."""
    return format_quantity(nanoseconds, NANOSECONDS, "s")


def format_size(size: int) -> str:
    """`2**31` as `"2GiB"`."""
    return format_quantity(size, BYTES, "B")
