"""Makes a data set: one tab-separated file a table, the same bytes for the same seed and scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np

from tierlab.workloads.dialect.files import DataSet, Row, write
from tierlab.workloads.rubis import auctions
from tierlab.workloads.rubis.auctions import Auctions, Bids, Flags, Integers
from tierlab.workloads.rubis.places import CATEGORIES, REGIONS
from tierlab.workloads.rubis.population import Population
from tierlab.workloads.text.dictionary import dictionary
from tierlab.workloads.text.running import RunningText

RATINGS = (-5, -3, 0, 3, 5)
DESCRIPTION_MOST = 8_192
COMMENT_MOST = 2_048
COMMENTED_SHARE = 0.95
"""Of the items: published are 31,500 comments on 33,000 items for sale, 475,000 on 500,000 old."""


def generate(folder: Path, *, seed: int, scale: float, load_day: date) -> DataSet:
    """Write the data set's files into a folder; dates are UTC, as of `load_day`'s beginning."""
    maker = _Maker(Population(scale, load_day), np.random.default_rng(seed))
    return write(folder, maker.tables(), seed=seed, scale=scale, load_day=load_day)


class _Maker:
    """The rows of one data set: numbers first, for they refer to each other, then the texts."""

    def __init__(self, population: Population, random: np.random.Generator) -> None:
        self._population = population
        self._random = random
        self._text = RunningText(dictionary(), random)
        day = population.load_day
        self._now = datetime(day.year, day.month, day.day)
        users = population.users
        self._old, old_bids = auctions.over(random, population.old_items, users)
        self._open, self._open_bids = auctions.under_way(random, population.items, users)
        self._bought = auctions.bought(random, self._old)
        self._won = _chosen(
            old_bids, auctions.last_of_each(old_bids) & ~self._bought[old_bids.item]
        )
        count = population.old_items + population.items
        self._commented = np.flatnonzero(random.random(count) < COMMENTED_SHARE)
        self._ratings = random.choice(RATINGS, size=len(self._commented))

    def tables(self) -> Iterator[tuple[str, Iterable[Row]]]:
        """Each table's name and rows; a table must be used up before the next is asked for."""
        old = self._population.old_items
        yield "categories", enumerate(CATEGORIES, 1)
        yield "regions", enumerate(REGIONS, 1)
        yield "users", self._users()
        yield "old_items", self._items(self._old, 1)
        yield "items", self._items(self._open, old + 1)
        yield "bids", self._bids()
        yield "comments", self._comments()
        yield "buy_now", self._purchases()

    def _moment(self, seconds: int) -> str:
        return (self._now + timedelta(seconds=seconds)).isoformat(" ")

    def _sellers(self) -> Integers:
        """The seller of each item, by its id less one."""
        return np.concatenate((self._old.seller, self._open.seller))

    def _users(self) -> Iterator[Row]:
        count = self._population.users
        receivers = self._sellers()[self._commented]
        ratings = np.bincount(receivers, weights=self._ratings, minlength=count + 1)
        moment = self._moment(-auctions.DAY_SECONDS * 3 * auctions.DAYS[1])
        for n, rating in enumerate(ratings[1:].astype(np.int64).tolist(), 1):
            yield (
                *(n, f"First{n}", f"Last{n}", f"user{n}", f"password{n}"),
                *(f"user{n}@rubis.example", rating, "0.00", moment, n % len(REGIONS) + 1),
            )

    def _items(self, made: Auctions, first: int) -> Iterator[Row]:
        count = len(made)
        names = self._text.titles(count)
        lengths = self._random.integers(1, DESCRIPTION_MOST + 1, size=count)
        numbers = zip(
            made.offers.initial.tolist(),
            made.offers.quantity.tolist(),
            made.offers.reserve.tolist(),
            made.offers.buy_now.tolist(),
            made.bids.tolist(),
            made.greatest.tolist(),
            made.begin.tolist(),
            made.end.tolist(),
            made.seller.tolist(),
            made.category.tolist(),
            strict=True,
        )
        columns = zip(names, self._text.texts(lengths), numbers, strict=True)
        for identity, (name, description, item) in enumerate(columns, first):
            initial, quantity, reserve, buy_now, bids, greatest, begin, end, *belongs = item
            yield (
                *(identity, name, description, _money(initial), quantity, _money(reserve)),
                *(_money(buy_now), bids, _money(greatest)),
                *(self._moment(begin), self._moment(end), *belongs),
            )

    def _bids(self) -> Iterator[Row]:
        identity = 1
        for bids, first_item in ((self._won, 1), (self._open_bids, self._population.old_items + 1)):
            rows = zip(
                bids.user.tolist(),
                (bids.item + first_item).tolist(),
                bids.quantity.tolist(),
                bids.amount.tolist(),
                bids.most.tolist(),
                bids.moment.tolist(),
                strict=True,
            )
            for user, item, quantity, amount, most, moment in rows:
                yield (
                    *(identity, user, item, quantity, _money(amount), _money(most)),
                    self._moment(moment),
                )
                identity += 1

    def _comments(self) -> Iterator[Row]:
        """A comment for the seller, of whoever won the item or of any user."""
        items = self._commented
        writers = self._random.integers(1, self._population.users + 1, size=len(items))
        winners = np.zeros(self._population.old_items + self._population.items, np.int64)
        winners[self._won.item] = self._won.user
        writers = np.where(winners[items] > 0, winners[items], writers)
        # After the auction's end, or the day before where it goes on.
        ends = np.concatenate((self._old.end, self._open.begin))[items]
        moments = ends - (self._random.random(len(items)) * ends).astype(np.int64)
        texts = self._text.texts(self._random.integers(1, COMMENT_MOST + 1, size=len(items)))
        rows = zip(
            writers.tolist(),
            self._sellers()[items].tolist(),
            (items + 1).tolist(),
            self._ratings.tolist(),
            np.minimum(moments, -1).tolist(),
            texts,
            strict=True,
        )
        for identity, (writer, seller, item, rating, moment, text) in enumerate(rows, 1):
            yield identity, writer, seller, item, rating, self._moment(moment), text

    def _purchases(self) -> Iterator[Row]:
        items = np.flatnonzero(self._bought)
        buyers = self._random.integers(1, self._population.users + 1, size=len(items))
        rows = zip(
            buyers.tolist(),
            (items + 1).tolist(),
            self._old.offers.quantity[items].tolist(),
            self._old.end[items].tolist(),
            strict=True,
        )
        for identity, (buyer, item, quantity, end) in enumerate(rows, 1):
            yield identity, buyer, item, quantity, self._moment(end)


def _chosen(bids: Bids, flags: Flags) -> Bids:
    return Bids(
        bids.item[flags],
        bids.user[flags],
        bids.quantity[flags],
        bids.amount[flags],
        bids.most[flags],
        bids.moment[flags],
    )


def _money(units: int) -> str:
    return f"{units}.00"
