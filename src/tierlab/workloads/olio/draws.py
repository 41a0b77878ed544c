"""Draws that Olio's loader and its users have in common, by the published distributions."""

from __future__ import annotations

import random as standard
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

TAG_MEAN = 0.1
"""The mean of a tag's number, as a share of all tags."""
TAG_TRIES = 10
EVENT_DAYS = 540
"""An event is on one of so many days after the load day, and was posted as long before at most."""
HOURS = (7, 21)
MINUTES = (0, 15, 30, 45)
TITLE = (15, 20)
DESCRIPTION = (50, 495)
TAGS_OF_EVENT = (1, 7)
SUMMARY = (250, 2_500)
"""Of a person; lengths in characters."""
TIME_ZONES = ("PST", "MST", "CST", "EST", "GMT", "CET", "IST", "JST")
STREETS = ("Blvd", "Ave", "St", "Ln", "")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LETTERS_DRAWN = 100_000

Address = tuple[str, str, str, str, str, str]
"""Two lines of the street, city, state, ZIP code, country."""


class Names:
    """Names, telephone numbers and addresses: cut from one long draw of letters and of digits."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._letters = "".join(random.choice(list(_LETTERS), size=_LETTERS_DRAWN))
        self._digits = "".join(random.choice(list("0123456789"), size=_LETTERS_DRAWN))

    def names(self, count: int, least: int, most: int) -> list[str]:
        """Capitalised words of so many letters."""
        return [name.capitalize() for name in self._cut(self._letters, count, least, most)]

    def telephones(self, count: int) -> list[str]:
        """Numbers of ten digits."""
        return self._cut(self._digits, count, 10, 10)

    def addresses(self, count: int) -> Iterator[Address]:
        """As the published loader makes them: half of the countries are the USA."""
        numbers = self._cut(self._digits, count, 1, 5)
        names = self.names(count, 1, 11)
        kinds = self._random.integers(len(STREETS), size=count).tolist()
        seconds = self._cut(self._letters, count, 5, 20)
        cities = self.names(count, 4, 14)
        states = self._cut(self._letters, count, 2, 2)
        codes = self._cut(self._digits, count, 5, 5)
        countries = self.names(count, 6, 16)
        coins = self._random.integers(2, size=(count, 2)).tolist()
        for at, (has_second, is_abroad) in enumerate(coins):
            yield (
                f"{numbers[at]} {names[at]} {STREETS[kinds[at]]}".rstrip(),
                seconds[at] if has_second else "",
                cities[at],
                states[at].upper(),
                codes[at],
                countries[at] if is_abroad else "USA",
            )

    def _cut(self, text: str, count: int, least: int, most: int) -> list[str]:
        lengths = between(self._random, (least, most), count)
        begins = self._random.integers(len(text) - most, size=count)
        pairs = zip(begins.tolist(), lengths.tolist(), strict=True)
        return [text[begin : begin + length] for begin, length in pairs]


def between(random: np.random.Generator, ends: tuple[int, int], count: int) -> Integers:
    """Uniform whole numbers, both ends included."""
    return random.integers(ends[0], ends[1] + 1, size=count)


def subsets(
    random: np.random.Generator, limit: int, sizes: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """For each size so many different numbers from 1 to `limit`, uniformly; all of fewer."""
    source = standard.Random(int(random.integers(2**62)))
    numbers = range(1, limit + 1)
    for size in sizes:
        yield tuple(source.sample(numbers, min(size, limit)))


def tag_sets(
    random: np.random.Generator, tags: int, sizes: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """For each size so many different tags: exponential from 1 on, drawn again beyond the last.

    After ten draws beyond it, the last one is taken; of fewer tags than asked for, all.
    """
    for size in sizes:
        found: dict[int, None] = {}
        while len(found) < min(size, tags):
            drawn = 1 + random.exponential(TAG_MEAN * tags, size=TAG_TRIES).astype(np.int64)
            within = drawn[drawn <= tags]
            found.setdefault(int(within[0]) if len(within) else tags)
        yield tuple(found)
