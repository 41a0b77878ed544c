"""Makes a data set: one tab-separated file a table, the same bytes for the same seed and size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from tierlab.workloads.dialect.files import DataSet, Row, write
from tierlab.workloads.olio import draws
from tierlab.workloads.olio.draws import Names, between, subsets, tag_sets
from tierlab.workloads.olio.population import Population
from tierlab.workloads.text.dictionary import dictionary
from tierlab.workloads.text.running import RunningText

FRIENDS = (2, 28)
ATTENDEES = (10, 100)
COMMENTS = (0, 20)
COMMENT = (10, 1_000)
"""Characters."""
RATINGS = (2, 5)
EVENT_SUMMARY = (50, 200)
"""Characters; the sources at hand do not say."""
DAY_SECONDS = 86_400


def generate(folder: Path, population: Population, *, seed: int, scale: float) -> DataSet:
    """Write the data set's files into a folder; dates are UTC, as of the load day's beginning."""
    maker = _Maker(population, np.random.default_rng(seed))
    day = population.load_day
    return write(folder, maker.tables(), seed=seed, scale=scale, load_day=day)


class _Maker:
    """The rows of one data set."""

    def __init__(self, population: Population, random: np.random.Generator) -> None:
        self._population = population
        self._random = random
        self._names = Names(random)
        self._text = RunningText(dictionary(), random)
        day = population.load_day
        self._now = datetime(day.year, day.month, day.day)
        sizes = between(random, draws.TAGS_OF_EVENT, population.events).tolist()
        self._tags = list(tag_sets(random, population.tags, sizes))

    def tables(self) -> Iterator[tuple[str, Iterable[Row]]]:
        """Each table's name and rows; a table must be used up before the next is asked for."""
        yield "address", self._addresses()
        yield "person", self._people()
        yield "person_person", self._friends()
        yield "socialevent", self._events()
        yield "person_socialevent", self._attendances()
        yield "socialeventtag", self._tag_counts()
        yield "socialeventtag_socialevent", self._links()
        yield "comments_rating", self._comments()

    def _addresses(self) -> Iterator[Row]:
        count = self._population.people
        latitudes = self._random.uniform(-66, 66, size=count).tolist()
        longitudes = self._random.uniform(-180, 180, size=count).tolist()
        rows = zip(self._names.addresses(count), latitudes, longitudes, strict=True)
        for identity, (address, latitude, longitude) in enumerate(rows, 1):
            yield (identity, *address, f"{latitude:.6f}", f"{longitude:.6f}")

    def _people(self) -> Iterator[Row]:
        count = self._population.people
        rows = zip(
            self._names.names(count, 2, 12),
            self._names.names(count, 5, 15),
            self._names.names(count, 3, 10),
            self._names.telephones(count),
            self._text.texts(between(self._random, draws.SUMMARY, count)),
            self._random.choice(draws.TIME_ZONES, size=count).tolist(),
            self._random.integers(1, count + 1, size=count).tolist(),
            strict=True,
        )
        for n, (first, last, host, telephone, summary, zone, address) in enumerate(rows, 1):
            yield (
                *(n, f"user{n}", n, first, last, f"{first}_{last}@{host}.example"),
                *(telephone, f"p{n}.jpg", f"p{n}t.jpg", summary, zone, address),
            )

    def _friends(self) -> Iterator[Row]:
        """Alternately accepted and asked for only."""
        people = self._population.people
        sizes = between(self._random, FRIENDS, people).tolist()
        for person, friends in enumerate(subsets(self._random, people, sizes), 1):
            others = (friend for friend in friends if friend != person)
            for at, friend in enumerate(others):
                yield f"user{person}", f"user{friend}", (at + 1) % 2

    def _events(self) -> Iterator[Row]:
        count, people = self._population.events, self._population.people
        days = between(self._random, (0, draws.EVENT_DAYS), count)
        hours = between(self._random, draws.HOURS, count)
        minutes = self._random.choice(draws.MINUTES, size=count)
        rows = zip(
            self._text.texts(between(self._random, draws.TITLE, count)),
            self._text.texts(between(self._random, draws.DESCRIPTION, count)),
            self._random.integers(1, people + 1, size=(count, 2)).tolist(),
            self._names.telephones(count),
            self._random.choice(draws.TIME_ZONES, size=count).tolist(),
            (days * DAY_SECONDS + hours * 3_600 + minutes * 60).tolist(),
            (-self._random.integers(draws.EVENT_DAYS * DAY_SECONDS, size=count) - 1).tolist(),
            self._text.texts(between(self._random, EVENT_SUMMARY, count)),
            strict=True,
        )
        for n, row in enumerate(rows, 1):
            title, description, (submitter, address), telephone, zone, time, posted, summary = row
            held = self._moment(time)
            yield (
                *(n, title, description, f"user{submitter}", address, 0, 0),
                *(f"e{n}.jpg", f"e{n}t.jpg", f"e{n}l.pdf", telephone, zone),
                *(held, self._moment(posted), 0, held[:10], summary),
            )

    def _attendances(self) -> Iterator[Row]:
        sizes = between(self._random, ATTENDEES, self._population.events).tolist()
        everybody = self._population.people
        for event, people in enumerate(subsets(self._random, everybody, sizes), 1):
            for person in people:
                yield f"user{person}", event

    def _tag_counts(self) -> Iterator[Row]:
        numbers = np.concatenate([np.array(tags) for tags in self._tags])
        counts = np.bincount(numbers, minlength=self._population.tags + 1)
        for n, count in enumerate(counts[1:].tolist(), 1):
            yield n, f"tag{n}", count

    def _links(self) -> Iterator[Row]:
        for event, tags in enumerate(self._tags, 1):
            for tag in tags:
                yield tag, event

    def _comments(self) -> Iterator[Row]:
        events = self._population.events
        sizes = between(self._random, COMMENTS, events)
        count = int(sizes.sum())
        rows = zip(
            np.repeat(np.arange(1, events + 1), sizes).tolist(),
            self._random.integers(1, self._population.people + 1, size=count).tolist(),
            self._text.texts(between(self._random, COMMENT, count)),
            between(self._random, RATINGS, count).tolist(),
            (-self._random.integers(draws.EVENT_DAYS * DAY_SECONDS, size=count) - 1).tolist(),
            strict=True,
        )
        for identity, (event, person, text, rating, moment) in enumerate(rows, 1):
            when = self._moment(moment)
            yield identity, f"user{person}", event, text, rating, when, when

    def _moment(self, seconds: int) -> str:
        return (self._now + timedelta(seconds=seconds)).isoformat(" ")
