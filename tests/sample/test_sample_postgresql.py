"""What PostgreSQL says of itself, against locks that the test holds and the server's own views."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pg8000.native import Connection

from tests.pace import wait_until
from tests.rubis.private_postgresql import PrivatePostgreSQL, private_postgresql

from .conftest import MILLISECOND, Sampling, Start

pytestmark = pytest.mark.slow

HELD_S = 0.5
POLL_NS = 50 * MILLISECOND
WAITERS = 2
UNTOLD = (
    *("row_lock_waits", "row_lock_time_ns", "table_lock_waits", "data_writes", "data_fsyncs"),
    *("buffer_pool_waits", "checkpoint_age", "aborted_connections", "refused_connections"),
)
"""What PostgreSQL does not count."""
PAGES = """
    SELECT sum(blks_hit)::bigint, sum(blks_read)::bigint, sum(temp_bytes)::bigint
    FROM pg_stat_database WHERE datname <> 'postgres'
"""
WRITTEN = "SELECT buffers_checkpoint FROM pg_stat_bgwriter"
ACCESS = "local all rubis scram-sha-256\nlocal all postgres trust\n"


@pytest.fixture(scope="module")
def database() -> Iterator[PrivatePostgreSQL]:
    with private_postgresql("rubis") as server:
        (server.folder / "data/pg_hba.conf").write_text(ACCESS)
        with closing(server.connect()) as own:
            own.run("CREATE ROLE rubis LOGIN PASSWORD 'secret' IN ROLE pg_read_all_stats")
            own.run("CREATE DATABASE rubis OWNER rubis")
            own.run("ALTER SYSTEM SET autovacuum = off")
            own.run("SELECT pg_reload_conf()")
        with closing(application(server)) as connection:
            connection.run("CREATE TABLE t (id int PRIMARY KEY, n int)")
            connection.run("INSERT INTO t SELECT n, 0 FROM generate_series(1, 20000) AS n")
        yield server


def application(server: PrivatePostgreSQL) -> Connection:
    return Connection("rubis", unix_sock=server.socket, password="secret", database="rubis")


def watch(start: Start, server: PrivatePostgreSQL, **more: Any) -> Sampling:
    login = {"user": "rubis", "password": "secret", "socket": server.socket}
    asked = {"subject": "db.1", "protocol": "postgresql", **login, **more}
    return start(tables=["database"], databases=[asked], database_interval_ns=POLL_NS)


def run(server: PrivatePostgreSQL, statement: str) -> None:
    with closing(application(server)) as connection:
        connection.run(statement)


def superuser(server: PrivatePostgreSQL, statement: str) -> None:
    with closing(server.connect()) as own:
        own.run(statement)


def ungranted(own: Connection) -> int:
    ((count,),) = own.run("SELECT count(*) FROM pg_locks WHERE NOT granted")
    return int(count)


@pytest.mark.parametrize(
    ("lock", "column", "other"),
    [
        ("SELECT * FROM t WHERE id = 1 FOR UPDATE", "row_lock_waiting", "table_lock_waiting"),
        ("LOCK TABLE t", "table_lock_waiting", "row_lock_waiting"),
    ],
    ids=["row", "table"],
)
def test_who_waits_for_a_lock_is_seen_as_pg_locks_has_him(
    start: Start, database: PrivatePostgreSQL, lock: str, column: str, other: str
) -> None:
    sampling = watch(start, database)
    with (
        closing(database.connect()) as own,
        closing(application(database)) as holder,
        ThreadPoolExecutor(WAITERS) as pool,
    ):
        holder.run("BEGIN")
        holder.run(lock)
        began = time.time_ns()
        update = "UPDATE t SET n = n + 1 WHERE id = 1"
        waiting = [pool.submit(run, database, update) for _ in range(WAITERS)]
        wait_until(lambda: ungranted(own) == WAITERS, "the waiting")
        all_wait = time.time_ns()
        time.sleep(HELD_S)
        assert ungranted(own) == WAITERS
        released = time.time_ns()
        holder.run("ROLLBACK")
        for each in waiting:
            each.result(timeout=30)
        over = time.time_ns()
    time.sleep(10 * POLL_NS / 1e9)
    sampling.stop()
    rows = sampling.table("database")
    asked_ns = rows.t_ns - rows.poll_ns
    held = rows[(asked_ns > all_wait) & (rows.t_ns < released)]
    assert len(held) >= 1
    assert set(held[column]) == {WAITERS}
    assert set(held.threads_running) <= {WAITERS, WAITERS + 1}, "the test's own question at most"
    assert set(held.idle_in_transaction) == {1}
    free = rows[(rows.t_ns < began) | (asked_ns > over)]
    assert len(free) >= 1
    assert set(free[column]) == {0}
    assert set(rows[other]) == {0}


def test_pages_and_temporary_files_are_the_servers_own_counts(
    start: Start, database: PrivatePostgreSQL
) -> None:
    with closing(database.connect()) as own:
        (before,) = own.run(PAGES)
        sampling = watch(start, database)
        with closing(application(database)) as connection:
            connection.run("SET work_mem = '64kB'")
            connection.run("SELECT count(*) FROM (SELECT * FROM t ORDER BY n, id OFFSET 1) AS s")
        # A session that ends hands its counts in.
        wait_until(lambda: own.run(PAGES) != [before], "the count")
        time.sleep(6 * POLL_NS / 1e9)
        sampling.stop()
        (after,) = own.run(PAGES)
    rows = sampling.table("database")
    counted = [rows.buffer_pool_hits.sum(), rows.data_reads.sum(), rows.temporary_bytes.sum()]
    assert counted == [now - then for then, now in zip(before, after, strict=True)]
    assert counted[0] > 0
    assert counted[2] > 0
    assert rows.drop(columns=list(UNTOLD)).notna().all().all()
    assert rows[list(UNTOLD)].isna().all().all()


def test_a_vacuum_is_seen_while_it_runs(start: Start, database: PrivatePostgreSQL) -> None:
    run(database, "DELETE FROM t WHERE id % 50 = 7")
    sampling = watch(start, database)
    slow, before = closing(application(database)), time.time_ns()
    with slow as connection, closing(database.connect()) as own:
        connection.run("SET vacuum_cost_delay = 20")
        connection.run("SET vacuum_cost_limit = 50")
        vacuum = threading.Thread(target=connection.run, args=("VACUUM t",))
        vacuum.start()
        running, under_way = "SELECT count(*) FROM pg_stat_progress_vacuum", time.time_ns()
        wait_until(lambda: own.run(running) == [[1]], "the vacuum")
        began = until = time.time_ns()
        while own.run(running) == [[1]]:
            until, under_way = under_way, time.time_ns()
        vacuum.join(timeout=30)
        over = time.time_ns()
    time.sleep(10 * POLL_NS / 1e9)
    sampling.stop()
    rows = sampling.table("database")
    asked_ns = rows.t_ns - rows.poll_ns
    seen = rows[(asked_ns > began) & (rows.t_ns < until)]
    assert len(seen) >= 1
    assert set(seen.vacuums_running) == {1}
    assert set(rows[(rows.t_ns < before) | (asked_ns > over)].vacuums_running) == {0}


def test_a_checkpoint_is_seen_while_it_runs(start: Start, database: PrivatePostgreSQL) -> None:
    """It would be over between two polls: the test stops the checkpointer in its midst."""
    run(database, "INSERT INTO t SELECT n, 0 FROM generate_series(30000, 230000) AS n")
    sampling = watch(start, database)
    time.sleep(10 * POLL_NS / 1e9)
    with closing(database.connect()) as own, ThreadPoolExecutor(1) as pool:
        written = own.run(WRITTEN)
        ((pid,),) = own.run("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
        idle = f"SELECT wait_event = 'CheckpointerMain' FROM pg_stat_activity WHERE pid = {pid}"
        before = time.time_ns()
        checkpoint = pool.submit(superuser, database, "CHECKPOINT")
        while own.run(idle) == [[True]]:
            assert not checkpoint.done()
        os.kill(pid, signal.SIGSTOP)
        try:
            stopped = time.time_ns()
            assert own.run(idle) != [[True]]
            time.sleep(10 * POLL_NS / 1e9)
            goes_on = time.time_ns()
        finally:
            os.kill(pid, signal.SIGCONT)
        checkpoint.result(timeout=30)
        wait_until(lambda: own.run(WRITTEN) != written, "the count of it")
        time.sleep(2 * POLL_NS / 1e9)
        ((before_it,),), ((after_it,),) = written, own.run(WRITTEN)
    sampling.stop()
    rows = sampling.table("database")
    under_way = rows[(rows.t_ns - rows.poll_ns > stopped) & (rows.t_ns < goes_on)]
    assert len(under_way) >= 1
    assert set(under_way.checkpoints_running) == {1}
    assert set(rows[rows.t_ns < before].checkpoints_running) == {0}
    assert rows.pages_flushed.sum() == after_it - before_it


def test_its_own_questions_leave_the_applications_database_alone(
    start: Start, database: PrivatePostgreSQL
) -> None:
    used = "SELECT xact_commit, blks_hit, sessions FROM pg_stat_database WHERE datname = 'rubis'"
    with closing(database.connect()) as own:
        before = own.run(used)
        sampling = watch(start, database)
        time.sleep(10 * POLL_NS / 1e9)
        sampling.stop()
        assert own.run(used) == before
    assert set(sampling.table("database").threads_connected) == {1}, "the test's own"


def test_a_server_that_refuses_is_a_reason(
    start: Start, database: PrivatePostgreSQL, tmp_path: Path
) -> None:
    refused = watch(start, database, password="wrong").stop()["not_measured"]["database"]
    assert 'db.1: password authentication failed for user "rubis"' in refused
    absent = watch(start, database, socket=str(tmp_path / "none")).stop()
    assert "db.1: cannot connect to" in absent["not_measured"]["database"]
