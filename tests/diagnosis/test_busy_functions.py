"""A profile says which functions had the CPUs while requests waited."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tierlab.analysis.query import Connection
from tierlab.analysis.span import Span
from tierlab.diagnosis.busy_functions import Profiled
from tierlab.diagnosis.finding import Window

SECOND = 1_000_000_000
SPAN = Span(0, 30 * SECOND)
WINDOW = Window(start_ns=10 * SECOND, end_ns=12 * SECOND)
COLUMNS = (
    't_ns BIGINT, dt_ns BIGINT, domain TEXT, "binary" TEXT, symbol TEXT, event TEXT, source TEXT'
)


@pytest.fixture
def db() -> Iterator[Connection]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE counters ({COLUMNS})")
        yield connection


def sampled(db: Connection, seed: int, *, then: str | None) -> None:
    """A sample every 5 ms, of ten functions by chance; half of those in the window of one."""
    random = np.random.default_rng(seed)
    t_ns = np.arange(0, SPAN.end_ns, SECOND // 200)
    symbol = np.array([f"f{each}" for each in random.integers(10, size=t_ns.size)], object)
    if then is not None:
        inside = (t_ns >= WINDOW.start_ns) & (t_ns < WINDOW.end_ns)
        symbol[inside & (random.random(t_ns.size) < 0.5)] = then
    rows = pa.table({"t_ns": t_ns, "symbol": pa.array(symbol, pa.string())})
    db.register("made", rows)
    db.execute(
        """INSERT INTO counters SELECT t_ns, 0, 'db.1', '/usr/sbin/mariadbd', symbol, 'cpu-clock',
           'software' FROM made"""
    )
    # What nobody did, and what was counted without a function, says nothing.
    for row in (
        [WINDOW.start_ns, 0, "idle", None, "do_idle", "cpu-clock", "software"],
        [WINDOW.start_ns, SECOND, "db.1", None, None, "cycles", "pmu"],
    ):
        db.execute("INSERT INTO counters VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def test_the_function_that_was_at_work_is_named_with_its_share(db: Connection) -> None:
    sampled(db, 1, then="row_search_mvcc")
    (found,) = Profiled(db, SPAN).busier([WINDOW])
    assert (found.domain, found.binary, found.symbol) == (
        *("db.1", "/usr/sbin/mariadbd", "row_search_mvcc"),
    )
    assert found.share == pytest.approx(0.5, abs=0.1)
    assert found.usual_share == 0


def test_what_is_as_usual_is_not_named(db: Connection) -> None:
    named = 0
    for seed in range(10):
        db.execute("DELETE FROM counters")
        sampled(db, seed, then=None)
        named += len(Profiled(db, SPAN).busier([WINDOW]))
    assert named == 0


def test_without_a_profile_nothing_is_said(db: Connection) -> None:
    assert Profiled(db, SPAN).busier([WINDOW]) == []
