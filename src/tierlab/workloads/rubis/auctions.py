"""Auctions drawn whole: who sold what when, and who bid how much, as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tierlab.workloads.rubis.places import CATEGORIES

DAY_SECONDS = 86_400
DAYS = (1, 7)
PRICES = (1, 5_000)
PREMIUM = 1_000
"""What a reserve or a buy-now price adds is below it."""
RESERVE_SHARE = 0.4
BUY_NOW_SHARE = 0.1
SINGLE_SHARE = 0.8
QUANTITIES = (1, 10)
MOST_BIDS = 19
STEPS = (1, 10)
BOUGHT_SHARE = 0.5
"""Of the items with a buy-now price whose auction is over; published is that under a tenth of all
items were bought that way."""

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bids:
    """Bids, in their order; amounts in whole units of money."""

    item: Integers
    """The place of the item among the auctions."""
    user: Integers
    quantity: Integers
    amount: Integers
    most: Integers
    """What the bidder would give at most."""
    moment: Integers


@dataclass(frozen=True)
class Offers:
    """What sellers ask for, one value an auction; prices in whole units of money."""

    initial: Integers
    quantity: Integers
    reserve: Integers
    """0: none."""
    buy_now: Integers
    """0: none."""


@dataclass(frozen=True)
class Auctions:
    """One value an auction; moments in seconds from the load day's begin, ids of users from 1."""

    offers: Offers
    bids: Integers
    """How many."""
    greatest: Integers
    """The greatest bid; 0 where there is none."""
    begin: Integers
    end: Integers
    seller: Integers
    category: Integers
    """From 1."""

    def __len__(self) -> int:
        return len(self.seller)


def drawn_offers(random: np.random.Generator, count: int) -> Offers:
    """Offers with the published shares of reserve and buy-now prices and of single items."""
    initial = _between(random, PRICES, count)
    several = _between(random, QUANTITIES, count)
    reserve = initial + random.integers(PREMIUM, size=count)
    reserve = np.where(random.random(count) < RESERVE_SHARE, reserve, 0)
    buy_now = initial + reserve + random.integers(PREMIUM, size=count)
    return Offers(
        initial=initial,
        quantity=np.where(random.random(count) < SINGLE_SHARE, 1, several),
        reserve=reserve,
        buy_now=np.where(random.random(count) < BUY_NOW_SHARE, buy_now, 0),
    )


def under_way(random: np.random.Generator, count: int, users: int) -> tuple[Auctions, Bids]:
    """Auctions that began on the day before and end after the load day, with all of their bids.

    Their days are uniform as published, and one more: none may end on the load day.
    """
    begin = -random.integers(1, DAY_SECONDS + 1, size=count)
    end = begin + (_between(random, DAYS, count) + 1) * DAY_SECONDS
    return _auctions(random, begin, end, users)


def over(random: np.random.Generator, count: int, users: int) -> tuple[Auctions, Bids]:
    """Auctions that ended within the week before the load day, with all of their bids."""
    end = -random.integers(1, DAYS[1] * DAY_SECONDS + 1, size=count)
    begin = end - _between(random, DAYS, count) * DAY_SECONDS
    return _auctions(random, begin, end, users)


def bought(random: np.random.Generator, auctions: Auctions) -> Flags:
    """Which auctions ended because somebody paid the buy-now price."""
    drawn: Flags = random.random(len(auctions)) < BOUGHT_SHARE
    return drawn & (auctions.offers.buy_now > 0)


def last_of_each(bids: Bids) -> Flags:
    """Which bids are the last of their auction."""
    return np.append(bids.item[1:] != bids.item[:-1], True)[: len(bids.item)]


def _auctions(
    random: np.random.Generator, begin: Integers, end: Integers, users: int
) -> tuple[Auctions, Bids]:
    count = len(begin)
    offers = drawn_offers(random, count)
    counts = random.integers(0, MOST_BIDS + 1, size=count)
    # What is there to see are the bids up to now.
    bids = _bids(
        random,
        counts=counts,
        initial=offers.initial,
        quantity=offers.quantity,
        begin=begin,
        until=np.minimum(end, 0),
        users=users,
    )
    greatest = np.zeros(count, np.int64)
    last = last_of_each(bids)
    greatest[bids.item[last]] = bids.amount[last]
    auctions = Auctions(
        offers=offers,
        bids=counts,
        greatest=greatest,
        begin=begin,
        end=end,
        seller=random.integers(1, users + 1, size=count),
        category=random.integers(1, len(CATEGORIES) + 1, size=count),
    )
    return auctions, bids


def _bids(
    random: np.random.Generator,
    *,
    counts: Integers,
    initial: Integers,
    quantity: Integers,
    begin: Integers,
    until: Integers,
    users: int,
) -> Bids:
    """Each bid is a step above the one before, and its bidder would have given a step more."""
    total = int(counts.sum())
    item = np.repeat(np.arange(len(counts)), counts)
    step = _between(random, STEPS, total)
    climbed = np.cumsum(step)
    before = np.concatenate(([0], climbed))[np.cumsum(counts) - counts]
    amount = initial[item] + climbed - before[item]
    # Uniform moments, put in order within each auction.
    moment = begin[item] + (random.random(total) * (until - begin)[item]).astype(np.int64)
    moment = moment[np.lexsort((moment, item))]
    return Bids(
        item=item,
        user=random.integers(1, users + 1, size=total),
        quantity=1 + (random.random(total) * quantity[item]).astype(np.int64),
        amount=amount,
        most=amount + step,
        moment=moment,
    )


def _between(random: np.random.Generator, ends: tuple[int, int], count: int) -> Integers:
    return random.integers(ends[0], ends[1] + 1, size=count)
