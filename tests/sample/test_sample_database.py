"""MariaDB's own counters, against locks that the test holds and a server that the test stops."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pymysql
import pytest

from tests.pace import wait_until
from tests.rubbos.private_mariadb import PrivateMariaDB, private_mariadb

from .conftest import MILLISECOND, Sampling, Start

pytestmark = pytest.mark.slow

HELD_S = 1.0
POLL_NS = 100 * MILLISECOND
UNTOLD = (
    *("idle_in_transaction", "temporary_bytes", "checkpoints_running", "vacuums_running"),
    "workers_running",
)
"""What MariaDB has no variable for."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateMariaDB]:
    with private_mariadb(tmp_path_factory.mktemp("db")) as server:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE rubbos")
            cursor.execute("GRANT ALL ON rubbos.* TO rubbos@'%' IDENTIFIED BY 'secret'")
            cursor.execute("CREATE TABLE rubbos.t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
            cursor.execute("INSERT INTO rubbos.t VALUES (1, 0)")
        yield server


def watch(start: Start, server: PrivateMariaDB, **more: Any) -> Sampling:
    login = {"user": "rubbos", "password": "secret", "socket": str(server.folder / "s")}
    asked = {"subject": "db.1", "protocol": "mysql", **login, **more}
    return start(tables=["database"], databases=[asked])


def update(server: PrivateMariaDB) -> None:
    """As the application's user."""
    with (
        pymysql.connect(
            unix_socket=str(server.folder / "s"),
            user="rubbos",
            password="secret",
            database="rubbos",
            autocommit=True,
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE t SET n = n + 1 WHERE id = 1")


@dataclass(frozen=True)
class HeldUp:
    """An update that waited for a lock: not before the first time nor after the last (ns), and all
    of the time between the two in the middle."""

    before: int
    waits: int
    released: int
    over: int

    def check_seen(self, rows: pd.DataFrame, column: str) -> None:
        """Assert that the level was 1 while it waited and 0 when it did not."""
        asked_ns = rows.t_ns - rows.poll_ns
        assert set(rows[(asked_ns > self.waits) & (rows.t_ns < self.released)][column]) == {1}
        assert set(rows[(rows.t_ns < self.before) | (asked_ns > self.over)][column]) == {0}


def held_up(server: PrivateMariaDB, lock: str, unlock: str) -> HeldUp:
    """Hold a lock for a while that an update needs."""
    with (
        server.connect(database="rubbos") as connection,
        connection.cursor() as cursor,
        server.connect() as beside,
        beside.cursor() as looks,
        ThreadPoolExecutor(1) as pool,
    ):
        waits = """SELECT 1 FROM information_schema.processlist
            WHERE info LIKE 'UPDATE t%' AND time_ms > 50"""
        cursor.execute("BEGIN")
        cursor.execute(lock)
        before = time.time_ns()
        waiting = pool.submit(update, server)
        wait_until(lambda: looks.execute(waits), "the update's waiting")
        all_waits = time.time_ns()
        time.sleep(HELD_S)
        released = time.time_ns()
        cursor.execute(unlock)
        waiting.result(timeout=30)
        return HeldUp(before, all_waits, released, time.time_ns())


def test_a_held_row_is_seen_waiting(start: Start, database: PrivateMariaDB) -> None:
    sampling = watch(start, database)
    time.sleep(3 * POLL_NS / 1e9)
    lock = "SELECT * FROM t WHERE id = 1 FOR UPDATE"
    held = held_up(database, lock, "ROLLBACK")
    time.sleep(6 * POLL_NS / 1e9)
    sampling.stop()
    rows = sampling.table("database")
    held.check_seen(rows, "row_lock_waiting")
    assert rows.row_lock_waits.sum() == 1
    # The server counts in milliseconds.
    waited = rows.row_lock_time_ns.sum() + MILLISECOND
    assert held.released - held.waits < waited < held.over - held.before + 2 * MILLISECOND
    assert set(rows.table_lock_waiting) == {0}
    assert not rows.drop(columns=list(UNTOLD)).isna().any().any()
    assert rows[list(UNTOLD)].isna().all().all()


def test_a_locked_table_is_seen_waiting(start: Start, database: PrivateMariaDB) -> None:
    sampling = watch(start, database)
    held = held_up(database, "LOCK TABLES t WRITE", "UNLOCK TABLES")
    time.sleep(6 * POLL_NS / 1e9)
    sampling.stop()
    rows = sampling.table("database")
    held.check_seen(rows, "table_lock_waiting")
    assert set(rows.row_lock_waiting) == {0}


def written(server: PrivateMariaDB) -> int:
    """Changed pages that it has written."""
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_flushed'")
        ((_, pages),) = cursor.fetchall()
    return int(pages)


def test_the_pages_that_it_writes_are_counted(start: Start, database: PrivateMariaDB) -> None:
    sampling = watch(start, database)
    time.sleep(2 * POLL_NS / 1e9)
    with database.connect(database="rubbos") as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE wide (id INT PRIMARY KEY, filler VARCHAR(7000)) ENGINE=InnoDB")
        cursor.execute("INSERT INTO wide SELECT seq, REPEAT('x', 7000) FROM seq_1_to_400")
        before = written(database)
        cursor.execute("FLUSH TABLES wide FOR EXPORT")
        after = written(database)
        cursor.execute("UNLOCK TABLES")
        time.sleep(3 * POLL_NS / 1e9)
        cursor.execute("DROP TABLE wide")
    sampling.stop()
    rows = sampling.table("database")
    assert after - before >= 100
    assert rows.pages_flushed.sum() >= after - before
    assert rows.checkpoint_age.max() > 400 * 7000 / 2, "the rows are in the log"


def test_a_server_that_stands_still_has_one_late_row(
    start: Start, database: PrivateMariaDB
) -> None:
    pid = int((database.folder / "pid").read_text())
    sampling = watch(start, database)
    time.sleep(5 * POLL_NS / 1e9)
    began = time.time_ns()
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(HELD_S)
    finally:
        os.kill(pid, signal.SIGCONT)
    time.sleep(5 * POLL_NS / 1e9)
    ended = time.time_ns()
    sampling.stop()
    rows = sampling.table("database")
    late = rows[rows.poll_ns == rows.poll_ns.max()].iloc[0]
    # It was asked up to two polls after it stood, and had answered by the end.
    assert HELD_S * 1e9 - 2 * POLL_NS < late.poll_ns < ended - began
    assert late.dt_ns >= late.poll_ns
    assert rows.poll_ns.median() < 0.1 * late.poll_ns
    spans = rows.sort_values("t_ns")
    assert ((spans.t_ns - spans.dt_ns).diff().dropna() >= 0).all()


def asked(server: PrivateMariaDB) -> dict[str, int]:
    """How many statements of each kind the server has had."""
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Com\\_%'")
        return {name: int(value) for name, value in cursor.fetchall()}


def test_its_own_statements_are_not_counted_with_the_applications(
    start: Start, database: PrivateMariaDB
) -> None:
    before = asked(database)
    sampling = watch(start, database)
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("DO SLEEP(2)")
    sampling.stop()
    after = asked(database)
    changed = {name for name, value in after.items() if value != before[name]}
    # SET AUTOCOMMIT and DO are this test's own.
    own = {"Com_set_option", "Com_do"}
    assert changed - own == {"Com_show_status", "Com_show_processlist"}
    assert after["Com_show_processlist"] >= before["Com_show_processlist"] + 5
    rows = sampling.table("database")
    assert rows.threads_connected.iloc[-1] <= 1, "its own connection is left out"


def test_the_process_list_is_asked_for_only_while_a_statement_runs(
    start: Start, database: PrivateMariaDB
) -> None:
    before = asked(database)["Com_show_processlist"]
    sampling = watch(start, database)
    time.sleep(10 * POLL_NS / 1e9)
    sampling.stop()
    # This test's own question may have run at one of the polls.
    assert asked(database)["Com_show_processlist"] <= before + 1
    rows = sampling.table("database")
    assert len(rows) >= 2
    assert set(rows.table_lock_waiting) == {0}


def test_a_server_that_refuses_is_a_reason(
    start: Start, database: PrivateMariaDB, tmp_path: Path
) -> None:
    refused = watch(start, database, password="wrong").stop()
    assert "Access denied" in refused["not_measured"]["database"]
    absent = watch(start, database, socket=str(tmp_path / "none")).stop()
    assert "db.1" in absent["not_measured"]["database"]
