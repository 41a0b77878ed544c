"""A curve that was recorded: a CSV file with a time in seconds and a load in each line."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator
from pathlib import Path

from tierlab.values.points import Curve, Points
from tierlab.values.quantities import SECOND

MOST_BYTES = 4 << 20
MOST_TOLD = 5
"""Of the lines that are wrong, so many are told."""


class CurveFileError(Exception):
    """A file without a curve; `problems` are what is wrong, each as a sentence goes on."""

    def __init__(self, *problems: str) -> None:
        super().__init__(*problems)
        self.problems = problems


def read_curve(path: Path) -> Points:
    """The curve in a CSV file: from its first time on, its highest load as 1.

    Each line has a time in seconds and a load, from 0 on; further columns and a first line without
    numbers are left aside. Raises :class:`CurveFileError` with all that is wrong.
    """
    read = list(_lines(_text(path), str(path)))
    wrong = [each for each in read if isinstance(each, str)]
    rows = [each for each in read if not isinstance(each, str)]
    wrong += [
        f"has in line {line} of {path} a time before the one above it"
        for (_, before, _), (line, at, _) in itertools.pairwise(rows)
        if at < before
    ]
    if wrong:
        more = len(wrong) - MOST_TOLD
        last = [f"has {more} more such lines in {path}"] if more > 0 else []
        raise CurveFileError(*wrong[:MOST_TOLD], *last)
    most = Curve().most
    if not 2 <= len(rows) <= most:
        raise CurveFileError(f"must name 2 to {most} lines, and {path} has {len(rows)}")
    first, highest = rows[0][1], max(load for _, _, load in rows)
    if highest == 0 or rows[-1][1] == first:
        raise CurveFileError(f"must name a load above 0 over some time, and {path} has none")
    return tuple((round((at - first) * SECOND), load / highest) for _, at, load in rows)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CurveFileError(f"names {path}, which cannot be read: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise CurveFileError(f"names {path}, which is over 4 MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CurveFileError(f"names {path}, which is not UTF-8 text") from None


def _lines(text: str, path: str) -> Iterator[tuple[int, float, float] | str]:
    """(line, seconds, load), or what is wrong with the line."""
    for line, row in _rows(text, path):
        if not any(cell.strip() for cell in row):
            continue
        numbers = [_number(cell) for cell in row[:2]]
        at, load = numbers if len(numbers) == 2 else (None, None)
        if at is not None and load is not None and load >= 0:
            yield line, at, load
        elif line > 1 or any(number is not None for number in numbers):
            yield f"must have a time in seconds and a load in line {line} of {path}"


def _rows(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from enumerate(csv.reader(text.splitlines()), start=1)
    except csv.Error as error:  # which is no ValueError
        raise CurveFileError(
            f"names {path}, which cannot be read as CSV ({error}), as where a quote is not closed"
        ) from None


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < 1e9 else None
