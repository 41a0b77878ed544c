"""The data set's proportions, its determinism, and that its parts fit together."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.pace import pace
from tierlab.workloads.dialect.files import DataSet
from tierlab.workloads.rubbos.generate import generate
from tierlab.workloads.rubbos.population import Population
from tierlab.workloads.rubbos.schema import TABLES
from tierlab.workloads.text.dictionary import dictionary

LOAD_DAY = date(2026, 11, 20)
SCALE = 0.05

Table = list[list[str]]
Tables = dict[str, Table]


def read(folder: Path) -> Tables:
    return {
        table.name: [
            line.split("\t")
            for line in (folder / f"{table.name}.tsv").read_text(encoding="ascii").splitlines()
        ]
        for table in TABLES
    }


def digests(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.tsv")
    }


def column(tables: Tables, table: str, name: str) -> list[str]:
    (made,) = [made for made in TABLES if made.name == table]
    place = [column.name for column in made.columns].index(name)
    return [row[place] for row in tables[table]]


def numbers(tables: Tables, table: str, name: str) -> list[int]:
    return [int(value) for value in column(tables, table, name)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    generate(folder, seed=7, scale=SCALE, load_day=LOAD_DAY)
    return folder


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tables:
    return read(folder)


def test_same_seed_and_scale_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    generate(tmp_path / "same", seed=7, scale=SCALE, load_day=LOAD_DAY)
    assert digests(tmp_path / "same") == digests(folder)
    assert len(digests(folder)) == len(TABLES) == 8
    generate(tmp_path / "other", seed=8, scale=SCALE, load_day=LOAD_DAY)
    other = digests(tmp_path / "other")
    assert {name for name in other if other[name] == digests(folder)[name]} == {
        # Nothing is drawn for these.
        *("categories.tsv", "users.tsv", "moderator_log.tsv")
    }


def test_a_later_load_day_moves_the_dates_only(tables: Tables, tmp_path: Path) -> None:
    generate(tmp_path, seed=7, scale=SCALE, load_day=LOAD_DAY + timedelta(days=3))
    later = read(tmp_path)
    for table in ("stories", "old_comments"):
        assert [
            datetime.fromisoformat(moment) + timedelta(days=3)
            for moment in column(tables, table, "date")
        ] == [datetime.fromisoformat(moment) for moment in column(later, table, "date")]
    assert column(tables, "stories", "body") == column(later, "stories", "body")


def test_rows_have_every_column_and_the_manifest_counts_them(folder: Path, tables: Tables) -> None:
    data = DataSet.read(folder)
    for table in TABLES:
        assert data.rows[table.name] == len(tables[table.name])
        assert all(len(row) == len(table.columns) for row in tables[table.name])
    assert data.load_day == "2026-11-20"


def test_users_are_those_the_driver_logs_in_as(tables: Tables) -> None:
    rows = {row[3]: row for row in tables["users"]}
    assert len(rows) == 1 + 25_000 + 50
    for n in (1, 25_000):
        assert rows[f"user{n}"][4] == f"password{n}"
    access = {name: row[7] != "0" for name, row in rows.items()}
    assert all(access[f"author{n}"] for n in range(1, 51))
    assert rows["author50"][4] == "password50"
    assert sum(access[f"user{n}"] for n in range(1, 25_001)) == 2_500
    assert rows["Anonymous Coward"][0] == "0"
    assert not access["Anonymous Coward"]
    assert numbers(tables, "users", "id") == list(range(25_051))


def test_days_have_as_many_stories_as_published(tables: Tables) -> None:
    population = Population(SCALE, LOAD_DAY)
    days = Counter(
        datetime.fromisoformat(moment).date()
        for table in ("stories", "old_stories")
        for moment in column(tables, table, "date")
    )
    assert set(days) == {population.first_day + timedelta(days=n) for n in range(38)}
    assert all(15 <= count <= 25 for count in days.values())
    assert max(days) == LOAD_DAY - timedelta(days=1)
    # A mean of 38 uniform draws from 15..25 lies within 4 standard errors of 20.
    assert abs(np.mean(list(days.values())) - 20) < 4 * np.sqrt(10) / np.sqrt(38)
    border = datetime(2026, 11, 20) - timedelta(days=8)
    assert max(column(tables, "old_stories", "date")) < str(border)
    assert min(column(tables, "stories", "date")) >= str(border)


@pytest.mark.parametrize("age", ["", "old_"])
def test_comments_belong_to_their_story_and_their_parent(tables: Tables, age: str) -> None:
    story_moment = dict(
        zip(
            column(tables, f"{age}stories", "id"),
            column(tables, f"{age}stories", "date"),
            strict=True,
        )
    )
    ids = numbers(tables, f"{age}comments", "id")
    parents = numbers(tables, f"{age}comments", "parent")
    stories = column(tables, f"{age}comments", "story_id")
    moments = column(tables, f"{age}comments", "date")
    by_id = dict(zip(ids, zip(stories, moments, strict=True), strict=True))
    per_story = Counter(stories)
    assert set(per_story) == set(story_moment)
    assert all(20 <= count <= 50 for count in per_story.values())
    assert abs(np.mean(list(per_story.values())) - 35) < 4 * 9 / np.sqrt(len(per_story))
    for identity, parent, story, moment in zip(ids, parents, stories, moments, strict=True):
        assert story_moment[story] <= moment < str(LOAD_DAY)
        if parent:
            assert parent < identity
            assert by_id[parent][0] == story
            assert by_id[parent][1] <= moment
    childs = Counter(parent for parent in parents if parent)
    assert numbers(tables, f"{age}comments", "childs") == [childs[identity] for identity in ids]
    assert 0.45 < np.mean([parent == 0 for parent in parents]) < 0.58


def test_new_ids_follow_the_old_ones(tables: Tables) -> None:
    for pair in ("stories", "comments"):
        together = numbers(tables, f"old_{pair}", "id") + numbers(tables, pair, "id")
        assert together == list(range(1, len(together) + 1))


def test_writers_ratings_and_categories_exist(tables: Tables) -> None:
    users = set(numbers(tables, "users", "id"))
    for table in ("stories", "old_stories", "submissions", "comments", "old_comments"):
        assert set(numbers(tables, table, "writer")) <= users
    assert set(numbers(tables, "comments", "rating")) == set(range(-1, 6))
    categories = set(numbers(tables, "categories", "id"))
    assert categories == set(range(85))
    for table in ("stories", "old_stories"):
        assert set(numbers(tables, table, "category")) == categories


def test_texts_are_of_the_dictionary_and_of_the_published_lengths(tables: Tables) -> None:
    words = set(dictionary().words)
    titles = column(tables, "stories", "title") + column(tables, "comments", "subject")
    assert all(title and len(title) < 100 and set(title.split()) <= words for title in titles)
    bodies = column(tables, "comments", "comment") + column(tables, "old_comments", "comment")
    lengths = np.array([len(body) for body in bodies])
    assert lengths.min() >= 1_024 - 20
    assert lengths.max() <= 8_192
    # Density x^-2 on [1, 8] KiB: half of the texts are shorter than 16/9 KiB, 1/7 over 4 KiB.
    assert abs(np.median(lengths) - 1_024 * 16 / 9) < 40
    assert abs(np.mean(lengths > 4_096) - 1 / 7) < 0.01
    assert {word.strip(",.?!:;") for body in bodies[:200] for word in body.split()} <= words


def test_words_follow_zipfs_law(tables: Tables) -> None:
    words = dictionary().words
    assert len(set(words)) == len(words) == 4_500
    counts = Counter(
        word.strip(",.?!:;")
        for body in column(tables, "old_comments", "comment")[:5_000]
        for word in body.split()
    )
    ranks = np.arange(1, 101)
    slope = np.polyfit(np.log(ranks), np.log([counts[word] for word in words[:100]]), 1)[0]
    assert -1.05 < slope < -0.95


def test_size_is_linear_in_the_scale(tmp_path: Path) -> None:
    rows = {
        scale: generate(tmp_path / str(scale), seed=1, scale=scale, load_day=LOAD_DAY).rows
        for scale in (0.001, 0.01, 0.1)
    }
    for scale, made in rows.items():
        stories = made["stories"] + made["old_stories"]
        # 760 days of 20 stories; a day's standard deviation is the square root of 10.
        assert abs(stories - 15_200 * scale) <= 4 * np.sqrt(10 * 760 * scale) + 10
        assert made["users"] == 51 + 500_000 * scale
    assert all(made["submissions"] >= 50 for made in rows.values())


def test_the_demos_size_is_generated_in_three_seconds(tmp_path: Path) -> None:
    began = time.process_time()
    generate(tmp_path, seed=1, scale=0.02, load_day=LOAD_DAY)
    assert time.process_time() - began < 3 * pace()
