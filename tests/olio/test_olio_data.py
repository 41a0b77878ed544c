"""Olio's data set: its published sizes, its distributions, and that its parts fit together."""

from __future__ import annotations

import hashlib
from datetime import date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from tierlab.workloads.dialect.tables import Kind
from tierlab.workloads.olio.generate import generate
from tierlab.workloads.olio.population import Population
from tierlab.workloads.olio.schema import TABLES

LOAD_DAY = date(2026, 11, 20)
NOW = datetime(2026, 11, 20)
POPULATION = Population(8, LOAD_DAY)
Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    generate(folder, POPULATION, seed=7, scale=0.008)
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
            dtype={c.name: str for c in table.columns if c.kind is Kind.VARCHAR},
            quoting=3,
        )
        for table in TABLES
    }


def digests(folder: Path) -> set[str]:
    return {hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.tsv")}


@pytest.mark.parametrize(
    ("scale", "people", "tags", "events"),
    [
        (0.0005, 2_500, 622, 1_866),
        (0.025, 2_500, 622, 1_866),
        (0.05, 5_000, 1_225, 3_675),
        (1.0, 100_000, 5_000, 15_000),
    ],
)
def test_sizes_are_the_published_ones(scale: float, people: int, tags: int, events: int) -> None:
    size = Population.at(scale, LOAD_DAY)
    assert (size.people, size.tags, size.events) == (people, tags, events)


def test_same_seed_and_size_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    small = Population(1, LOAD_DAY)
    generate(tmp_path / "one", small, seed=7, scale=0.001)
    generate(tmp_path / "same", small, seed=7, scale=0.001)
    generate(tmp_path / "other", small, seed=8, scale=0.001)
    assert digests(tmp_path / "one") == digests(tmp_path / "same")
    assert not digests(tmp_path / "one") & digests(tmp_path / "other")
    assert len(digests(folder)) == len(TABLES) == 8


def test_every_value_fits_its_column(tables: Tables) -> None:
    for table in TABLES:
        for column in table.columns:
            if column.kind is Kind.VARCHAR:
                longest = tables[table.name][column.name].str.len().max()
                assert longest <= column.length, (table.name, column.name)


@pytest.mark.parametrize(
    ("table", "by", "ends"),
    [
        ("person_person", "person_username", (2, 28)),
        ("person_socialevent", "socialeventid", (10, 100)),
        ("socialeventtag_socialevent", "socialeventid", (1, 7)),
        ("comments_rating", "socialeventid", (0, 20)),
    ],
)
def test_each_has_as_many_as_published(
    table: str, by: str, ends: tuple[int, int], tables: Tables
) -> None:
    """Uniform between the ends, friends less now and then one that would be the person itself."""
    sizes = tables[table].groupby(by).size()
    least, most = ends
    assert sizes.min() >= least - (table == "person_person")
    assert sizes.max() == most
    count = POPULATION.people if table == "person_person" else POPULATION.events
    error = (most - least) / 12**0.5 / count**0.5
    assert abs(len(tables[table]) / count - (least + most) / 2) < 4 * error + 0.02


def test_rows_refer_to_rows(tables: Tables) -> None:
    people, events = set(tables["person"].username), set(tables["socialevent"].socialeventid)
    tags = set(tables["socialeventtag"].socialeventtagid)
    for table in ("person_socialevent", "comments_rating"):
        assert set(tables[table].username) <= people
        assert set(tables[table].socialeventid) <= events
    assert set(tables["person_person"].friends_username) <= people
    assert set(tables["socialevent"].submitterusername) <= people
    assert set(tables["socialeventtag_socialevent"].socialeventtagid) <= tags
    addresses = set(tables["address"].addressid)
    assert len(addresses) == len(people) == POPULATION.people
    for table in ("person", "socialevent"):
        assert set(tables[table].address_addressid) <= addresses
    friends = tables["person_person"]
    assert (friends.person_username != friends.friends_username).all()
    for table in TABLES:
        key = table.key or (table.columns[0].name,)
        assert not tables[table.name].duplicated(list(key)).any(), table.name


def test_a_tags_count_is_that_of_its_events_and_small_numbers_have_more(tables: Tables) -> None:
    links = tables["socialeventtag_socialevent"].socialeventtagid
    counted = links.value_counts().reindex(tables["socialeventtag"].socialeventtagid, fill_value=0)
    assert counted.tolist() == tables["socialeventtag"].refcount.tolist()
    # Of an exponential with a tenth of the tags for a mean, 63 in 100 draws are below the mean;
    # events have different tags each, so that some of these are drawn again.
    below = (links <= POPULATION.tags / 10).mean()
    assert 0.5 < below < 0.66


def test_events_are_to_come_and_were_posted_before(tables: Tables) -> None:
    events = tables["socialevent"]
    held = pd.to_datetime(events.eventtimestamp)
    assert (events.eventtimestamp.str[:10] == events.eventdate).all()
    assert held.min() >= NOW
    assert held.max() < NOW + timedelta(days=541)
    assert set(held.dt.hour) == set(range(7, 22))
    assert set(held.dt.minute) == {0, 15, 30, 45}
    posted = pd.to_datetime(events.createdtimestamp)
    assert NOW - timedelta(days=540) <= posted.min()
    assert posted.max() < NOW


def test_half_of_the_friends_are_only_asked(tables: Tables) -> None:
    accepted = tables["person_person"].groupby("person_username").is_accepted.agg(["sum", "size"])
    assert ((accepted["size"] + 1) // 2 == accepted["sum"]).all()
