"""RUBiS's data set: its proportions, its determinism, and that its parts fit together."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tierlab.workloads.rubis.generate import generate
from tierlab.workloads.rubis.population import LEAST_ITEMS, Population
from tierlab.workloads.rubis.schema import TABLES

LOAD_DAY = date(2026, 11, 20)
SCALE = 0.005
Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    generate(folder, seed=7, scale=SCALE, load_day=LOAD_DAY)
    return folder


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tables:
    return {
        table.name: pd.read_csv(
            folder / f"{table.name}.tsv",
            sep="\t",
            header=None,
            names=[column.name for column in table.columns],
            keep_default_na=False,
            quoting=3,
        )
        for table in TABLES
    }


def digests(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.tsv")
    }


def moments(column: pd.Series) -> pd.Series:
    return pd.to_datetime(column)


def test_same_seed_and_scale_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    generate(tmp_path / "same", seed=7, scale=SCALE, load_day=LOAD_DAY)
    assert digests(tmp_path / "same") == digests(folder)
    assert len(digests(folder)) == len(TABLES) == 8
    generate(tmp_path / "other", seed=8, scale=SCALE, load_day=LOAD_DAY)
    other = digests(tmp_path / "other")
    same = {name for name in other if other[name] == digests(folder)[name]}
    assert same == {"categories.tsv", "regions.tsv"}


def test_proportions_are_the_published_ones(tables: Tables) -> None:
    assert {
        name: len(tables[name]) for name in ("categories", "regions", "users", "old_items")
    } == {
        "categories": 20,
        "regions": 62,
        "users": 5_000,
        "old_items": 2_500,
    }
    items, old = tables["items"], tables["old_items"]
    assert len(items) == LEAST_ITEMS
    for made in (items, old):
        count = len(made)
        # Shares lie within four standard errors.
        for share, expected in (
            ((made.reserve_price > 0).mean(), 0.4),
            ((made.buy_now > 0).mean(), 0.1),
            ((made.quantity == 1).mean(), 0.8 + 0.2 / 10),
        ):
            assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / count)
        assert made.initial_price.between(1, 5_000).all()
        assert abs(made.nb_of_bids.mean() - 9.5) < 4 * np.sqrt((20**2 - 1) / 12 / count)
        assert made.description.str.len().max() <= 8_192
        assert abs(made.description.str.len().mean() - 4_096) < 4 * 8_192 / np.sqrt(12 * count)
    comments = tables["comments"]
    assert abs(len(comments) / (len(items) + len(old)) - 0.95) < 0.015
    assert set(comments.rating) == {-5, -3, 0, 3, 5}
    assert comments.comment.str.len().max() <= 2_048
    assert 0.03 < len(tables["buy_now"]) / len(old) < 0.1


def test_full_scale_is_the_published_size() -> None:
    full = Population(1.0, LOAD_DAY)
    assert (full.users, full.items, full.old_items) == (1_000_000, 33_000, 500_000)


def test_users_are_those_the_driver_logs_in_as(tables: Tables) -> None:
    users = tables["users"]
    assert list(users.id) == list(range(1, 5_001))
    assert list(users.nickname) == [f"user{n}" for n in users.id]
    assert list(users.password) == [f"password{n}" for n in users.id]
    per_region = Counter(users.region)
    assert set(per_region) == set(tables["regions"].id)
    assert max(per_region.values()) - min(per_region.values()) <= 1


def test_every_item_agrees_with_its_bids(tables: Tables) -> None:
    items, bids = tables["items"], tables["bids"]
    mine = bids[bids.item_id.isin(items.id)]
    counted = mine.groupby("item_id").bid.agg(["size", "max"]).reindex(items.id, fill_value=0)
    assert (counted["size"].to_numpy() == items.nb_of_bids.to_numpy()).all()
    assert (counted["max"].to_numpy() == items.max_bid.to_numpy()).all()
    first = mine.groupby("item_id").bid.min()
    initial = items.set_index("id").initial_price
    assert ((first - initial[first.index]).between(1, 10)).all()
    assert (mine.max_bid > mine.bid).all()
    # Later bids are greater.
    ordered = mine.sort_values(["item_id", "date", "bid"])
    assert ordered.groupby("item_id").bid.is_monotonic_increasing.all()
    joined = mine.join(items.set_index("id")[["quantity", "start_date"]], on="item_id")
    assert (joined.qty <= joined.quantity).all()
    assert (moments(joined.date) >= moments(joined.start_date)).all()
    assert moments(mine.date).max() < datetime(2026, 11, 20)


def test_old_items_keep_the_bid_that_won(tables: Tables) -> None:
    old, bids = tables["old_items"], tables["bids"]
    kept = bids[bids.item_id.isin(old.id)].set_index("item_id")
    assert kept.index.is_unique
    bought = set(tables["buy_now"].item_id)
    won = old[(old.nb_of_bids > 0) & ~old.id.isin(bought)].set_index("id")
    assert set(kept.index) == set(won.index)
    assert (kept.bid == won.max_bid[kept.index]).all()
    assert (old[old.id.isin(bought)].buy_now > 0).all()
    comments = tables["comments"].set_index("item_id")
    winners = kept.user_id[kept.index.isin(comments.index)]
    assert (comments.from_user_id[winners.index] == winners).all()


def test_ratings_are_the_sums_of_the_comments(tables: Tables) -> None:
    comments, users = tables["comments"], tables["users"].set_index("id")
    sums = comments.groupby("to_user_id").rating.sum().reindex(users.index, fill_value=0)
    assert (sums == users.rating).all()
    sellers = pd.concat([tables["old_items"], tables["items"]]).set_index("id").seller
    assert (comments.set_index("item_id").to_user_id == sellers[comments.item_id]).all()


def test_auctions_go_on_through_the_load_day_or_were_over_before(tables: Tables) -> None:
    day = datetime(2026, 11, 20)
    begin, end = moments(tables["items"].start_date), moments(tables["items"].end_date)
    assert begin.max() < day
    assert end.min() >= day + timedelta(days=1)
    assert end.max() < day + timedelta(days=8)
    assert set((end - begin).dt.days) == set(range(2, 9))
    old = moments(tables["old_items"].end_date)
    assert day - timedelta(days=7) <= old.min() <= old.max() < day


def test_ids_are_shared_by_old_and_new_items(tables: Tables) -> None:
    together = [*tables["old_items"].id, *tables["items"].id]
    assert together == list(range(1, len(together) + 1))
    for table, column in (
        ("bids", "user_id"),
        ("comments", "from_user_id"),
        ("buy_now", "buyer_id"),
    ):
        assert tables[table][column].between(1, 5_000).all()
