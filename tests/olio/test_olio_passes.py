"""A real run of Olio by which all rules of its benchmark hold, as it was recorded.

`passed.parquet` has the requests of 50 users: 180 s of ramp-up and 300 s of runtime on nginx,
PHP-FPM, memcached, MariaDB and the geocoder, natively, by docs/reference/run-rules.md. Its times,
since the beginning, are rounded to a tenth of a millisecond, and columns that no rule needs are
left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tierlab.analysis.requests.run_rules import run_verdict
from tierlab.analysis.span import Span
from tierlab.workloads.olio.users import MIX
from tierlab.workloads.olio.workload import Olio

S = 1_000_000_000
USERS = 50
RUNTIME = Span(180 * S, 480 * S)
PICTURES = 10
"""On the home page."""


@pytest.fixture(scope="module")
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    file = Path(__file__).with_name("passed.parquet")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW requests AS FROM read_parquet('{file}')")
        yield connection


def test_the_run_passes_by_each_rule(db: duckdb.DuckDBPyConnection) -> None:
    found = run_verdict(db, RUNTIME, Olio().rules(MIX), USERS)
    assert found is not None
    assert found.broken == []
    assert found.passed
    assert len(found.operations) == 7
    for each in found.operations:
        assert each.count > 0
        assert (each.mix_passed, each.time_passed, each.delay_passed) == (True, True, True)
    values = {each.name: each.value for each in found.checks}
    assert values["images loaded per home page"] == pytest.approx(3.107, abs=1e-3)


def test_while_sessions_are_still_their_first_the_same_run_does_not_pass(
    db: duckdb.DuckDBPyConnection,
) -> None:
    """Who has hardly logged in and out yet has its pictures from before."""
    for begin, end in ((10, 60), (60, 150)):
        found = run_verdict(db, Span(begin * S, end * S), Olio().rules(MIX), USERS)
        assert found is not None
        assert any("images loaded per home page" in each for each in found.broken), found.broken


def test_its_users_loaded_the_pictures_that_the_published_client_loads(
    db: duckdb.DuckDBPyConnection,
) -> None:
    """All ten at the first home page of a session, but those that a search has shown already; none
    at others, but those of an event that somebody has added.
    """
    rows = db.execute(
        """SELECT "user", interaction, images FROM requests WHERE error IS NULL
        ORDER BY "user", start_ns"""
    ).fetchall()
    firsts, others = [], []
    user = None
    for of, name, images in rows:
        if of != user:
            user, logged_in, seen = of, False, False
        if name in ("Login", "AddPerson"):
            seen &= not logged_in
            logged_in = name == "Login"
        if name == "HomePage":
            (others if seen else firsts).append(images)
            seen = True
    assert sum(firsts) / len(firsts) > PICTURES - 0.5
    assert max(firsts) == PICTURES
    assert sum(others) / len(others) < 0.05


def test_its_users_started_a_tenth_of_a_second_after_one_another(
    db: duckdb.DuckDBPyConnection,
) -> None:
    rows = db.execute(
        """SELECT "user", min(intended_ns), arg_min(interaction, start_ns) FROM requests
        GROUP BY 1 ORDER BY 1"""
    ).fetchall()
    begun = rows[0][1]
    for number, (user, first, what) in enumerate(rows):
        assert (user, what) == (number, "HomePage")
        assert first - begun == pytest.approx(number * S / 10, abs=S / 100)
