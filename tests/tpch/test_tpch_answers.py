"""All queries give the answers that they should, and those of another database on the same data."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pytest

from tests.rubis.private_postgresql import PrivatePostgreSQL
from tests.tpch.answers import Answer
from tests.tpch.conftest import Databases, asked, loaded
from tierlab.workloads.tpch.queries import QUERIES, drawn, name, validating
from tierlab.workloads.tpch.schema import TABLES

pytestmark = [pytest.mark.slow]
PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text())
"""Of each answer at scale 1: how many rows, and the SHA-256 of their lines in order, with bars
between the values. Source: the answer sets that come with the specification's dbgen."""


@pytest.mark.parametrize("query", QUERIES, ids=name)
def test_an_answer_is_duckdb_s(query: int, small: Databases) -> None:
    statement = validating(query, small.scale)

    assert same(small.asked(statement), small.expected(statement))


@pytest.mark.parametrize("query", QUERIES, ids=name)
def test_so_it_is_with_drawn_values(query: int, small: Databases) -> None:
    statement = drawn(query, small.scale, random.Random(query))

    assert same(small.asked(statement), small.expected(statement))


def same(found: Answer, expected: Answer) -> bool:
    """Rows that the query puts in no order may come in any."""
    return sorted(found) == sorted(expected)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivatePostgreSQL]:
    """Without foreign keys, which no answer depends on, and which take long to be checked."""
    tables = [replace(table, references=()) for table in TABLES]
    files = tmp_path_factory.mktemp("tpch") / "data"
    with loaded(1, files, tables, maintenance_work_mem="512MB", work_mem="64MB") as found:
        rmtree(files)
        yield found


@pytest.mark.environments
@pytest.mark.parametrize("query", QUERIES, ids=name)
def test_at_scale_1_an_answer_is_the_published_one(query: int, large: PrivatePostgreSQL) -> None:
    rows = asked(large, validating(query, 1))

    lines = sorted("|".join(row) for row in rows)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert {"rows": len(rows), "sha256": digest} == PUBLISHED[name(query)]


def test_workers_help_with_the_third_query(small: Databases) -> None:
    plan = small.asked(f"EXPLAIN (ANALYZE) {validating(3, small.scale)}")

    launched = [line for (line,) in plan if line.startswith("Workers Launched:")]
    assert launched
    assert any(line.split()[-1] != "0" for line in launched)
