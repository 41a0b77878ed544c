"""Makes a data set: one tab-separated file a table, the same bytes for the same seed and scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tierlab.workloads.dialect.files import DataSet, Row, write
from tierlab.workloads.rubbos.categories import CATEGORIES
from tierlab.workloads.rubbos.population import COMMENTS_PER_STORY, STORIES_PER_DAY, Population
from tierlab.workloads.text.dictionary import dictionary
from tierlab.workloads.text.running import RunningText

_DAY_SECONDS = 86_400
_MODERATOR_SHARE = 10
"""One user in so many has access, as published."""
_TOP_LEVEL_SHARE = 0.5
_RATINGS = range(-1, 6)
_RATING_SHARES = (0.05, 0.40, 0.25, 0.15, 0.08, 0.05, 0.02)

Integers = npt.NDArray[np.int64]


def generate(folder: Path, *, seed: int, scale: float, load_day: date) -> DataSet:
    """Write the data set's files into a folder; dates are UTC, before `load_day`."""
    maker = _Maker(Population(scale, load_day), np.random.default_rng(seed))
    return write(folder, maker.tables(), seed=seed, scale=scale, load_day=load_day)


class _Maker:
    """The rows of one data set. Tables are drawn in a fixed order from one generator."""

    def __init__(self, population: Population, random: np.random.Generator) -> None:
        self._population = population
        self._random = random
        self._text = RunningText(dictionary(), random)
        first = population.first_day
        self._epoch = datetime(first.year, first.month, first.day)

    def tables(self) -> Iterator[tuple[str, Iterable[Row]]]:
        """Each table's name and rows; a table must be used up before the next is asked for."""
        population = self._population
        yield "categories", enumerate(CATEGORIES)
        yield "users", self._users()
        moments = self._story_moments()
        old = int(np.searchsorted(moments, (population.days - population.new_days) * _DAY_SECONDS))
        for prefix, first, chosen in (("old_", 0, moments[:old]), ("", old, moments[old:])):
            yield f"{prefix}stories", self._stories(chosen, first + 1)
        first_comment = 1
        for prefix, first, chosen in (("old_", 0, moments[:old]), ("", old, moments[old:])):
            counts = self._random.integers(
                COMMENTS_PER_STORY[0], COMMENTS_PER_STORY[1] + 1, size=len(chosen)
            )
            yield f"{prefix}comments", self._comments(chosen, counts, first + 1, first_comment)
            first_comment += int(counts.sum())
        last_day = population.days - 1 + np.sort(self._random.random(population.submissions))
        yield "submissions", self._stories((last_day * _DAY_SECONDS).astype(np.int64), 1)
        yield "moderator_log", ()

    def _moment(self, seconds: int) -> str:
        return (self._epoch + timedelta(seconds=seconds)).isoformat(" ")

    def _users(self) -> Iterator[Row]:
        moment = self._moment(0)
        yield 0, "Anonymous", "Coward", "Anonymous Coward", "", "", 0, 0, moment
        for n in range(1, self._population.users + 1):
            access = int(n % _MODERATOR_SHARE == 0)
            yield self._user(n, "user", n, access)
        for n in range(1, self._population.authors + 1):
            yield self._user(self._population.users + n, "author", n, 1)

    def _user(self, identity: int, name: str, n: int, access: int) -> Row:
        moment = self._moment(0)
        email = f"{name}{n}@rubbos.example"
        return (
            *(identity, f"First{n}", f"Last{n}", f"{name}{n}", f"password{n}"),
            *(email, 0, access, moment),
        )

    def _story_moments(self) -> Integers:
        """Seconds since the first day's begin of all stories, ascending."""
        least, most = STORIES_PER_DAY
        per_day = self._random.integers(least, most + 1, size=self._population.days)
        # Fractions are carried on, so that thin days at small scales add up.
        thinned = np.floor(np.cumsum(per_day) * self._population.density)
        counts = np.diff(thinned.astype(np.int64), prepend=0)
        days = np.repeat(np.arange(self._population.days), counts)
        within = self._random.integers(0, _DAY_SECONDS, size=len(days))
        return np.sort(days * _DAY_SECONDS + within)

    def _writers(self, count: int) -> Integers:
        accounts = self._population.users + self._population.authors
        return self._random.integers(1, accounts + 1, size=count)

    def _stories(self, moments: Integers, first: int) -> Iterator[Row]:
        count = len(moments)
        # Every category gets its turn before any gets a second story: none stays empty for long.
        turns = -(-count // len(CATEGORIES))
        categories = np.concatenate(
            [self._random.permutation(len(CATEGORIES)) for _ in range(turns)] or [moments]
        )
        writers = self._writers(count)
        titles, bodies = self._text.titles(count), self._text.bodies(count)
        columns = zip(
            titles, bodies, moments.tolist(), writers.tolist(), categories.tolist(), strict=False
        )
        for identity, (title, body, moment, writer, category) in enumerate(columns, first):
            yield identity, title, body, self._moment(moment), writer, category

    def _comments(
        self, moments: Integers, counts: Integers, first_story: int, first: int
    ) -> Iterator[Row]:
        total = int(counts.sum())
        writers = self._writers(total).tolist()
        ratings = self._random.choice(_RATINGS, size=total, p=_RATING_SHARES).tolist()
        parents, childs = self._trees(counts)
        dates = self._comment_moments(moments, counts).tolist()
        stories = np.repeat(np.arange(first_story, first_story + len(counts)), counts).tolist()
        subjects, texts = self._text.titles(total), self._text.bodies(total)
        columns = zip(subjects, texts, strict=True)
        for i, (subject, text) in enumerate(columns):
            parent = first + int(parents[i]) if parents[i] >= 0 else 0
            moment = self._moment(dates[i])
            yield (
                *(first + i, writers[i], stories[i], parent, childs[i], ratings[i]),
                *(moment, subject, text),
            )

    def _trees(self, counts: Integers) -> tuple[Integers, Integers]:
        """Each comment's parent (its place in the table, -1 for none) and number of children.

        Half of the comments answer the story, the others a uniformly drawn earlier comment of the
        same story: a random recursive forest.
        """
        total = int(counts.sum())
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        earlier = np.arange(total) - begins
        drawn = begins + np.floor(self._random.random(total) * earlier).astype(np.int64)
        top = (earlier == 0) | (self._random.random(total) < _TOP_LEVEL_SHARE)
        parents = np.where(top, -1, drawn)
        return parents, np.bincount(parents[~top], minlength=total)

    def _comment_moments(self, moments: Integers, counts: Integers) -> Integers:
        """Within two days of the story, ascending within it, before the load day."""
        end = self._population.days * _DAY_SECONDS - 1
        starts = np.repeat(moments, counts)
        spans = np.minimum(2 * _DAY_SECONDS, end - starts)
        order = np.repeat(np.arange(len(counts)), counts)
        delays = self._random.random(len(starts))
        delays = delays[np.lexsort((delays, order))]
        return starts + (delays * spans).astype(np.int64)
