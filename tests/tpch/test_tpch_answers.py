"""All queries give the answers that they should, and those of another database on the same data."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tpch.answers import Answer
from tests.tpch.conftest import Databases, databases
from tierlab.workloads.tpch.queries import QUERIES, drawn, name, validating

pytestmark = [pytest.mark.slow]
PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text())
"""Of each answer at scale 1: its rows, and the SHA-256 of them, a line each with bars between the
values. Source: the answer sets that come with the specification's dbgen."""


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
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    with databases(1, tmp_path_factory.mktemp("tpch")) as found:
        yield found


@pytest.mark.environments
@pytest.mark.parametrize("query", QUERIES, ids=name)
def test_at_scale_1_an_answer_is_the_published_one(query: int, large: Databases) -> None:
    rows = large.asked(validating(query, large.scale))

    lines = sorted("|".join(row) for row in rows)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert {"rows": len(rows), "sha256": digest} == PUBLISHED[name(query)]


def test_workers_help_with_the_third_query(small: Databases) -> None:
    plan = small.asked(f"EXPLAIN (ANALYZE) {validating(3, small.scale)}")

    launched = [line for (line,) in plan if line.startswith("Workers Launched:")]
    assert launched
    assert any(line.split()[-1] != "0" for line in launched)
