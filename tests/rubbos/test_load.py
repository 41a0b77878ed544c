"""Loading a data set into a real MariaDB."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from tests.pace import pace
from tierlab.errors import UserError
from tierlab.workloads.dialect.loader import load
from tierlab.workloads.dialect.tables import Table
from tierlab.workloads.rubbos.generate import generate
from tierlab.workloads.rubbos.load import RubbosLoader
from tierlab.workloads.rubbos.schema import TABLES

from .private_mariadb import PrivateMariaDB

LOAD_DAY = date(2026, 11, 20)


@pytest.fixture
def server(database: PrivateMariaDB) -> PrivateMariaDB:
    """The session's, with a database beside the application's."""
    return replace(database, name="loaded")


def in_new_database(server: PrivateMariaDB) -> Connection[Cursor]:
    connection = server.connect()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {server.name}")
        cursor.execute(f"CREATE DATABASE {server.name} CHARACTER SET utf8mb4")
    connection.select_db(server.name)
    return connection


def test_equal_keys_mean_equal_data(tmp_path: Path) -> None:
    one = RubbosLoader(1, 0.02, LOAD_DAY, tmp_path)
    assert one.key == RubbosLoader(1, 0.02, LOAD_DAY, tmp_path / "elsewhere").key
    others = {
        RubbosLoader(2, 0.02, LOAD_DAY, tmp_path).key,
        RubbosLoader(1, 0.021, LOAD_DAY, tmp_path).key,
        RubbosLoader(1, 0.02, date(2026, 11, 21), tmp_path).key,
    }
    assert len(others | {one.key}) == 4


@pytest.mark.slow
def test_every_row_arrives_and_numbering_goes_on(server: PrivateMariaDB, tmp_path: Path) -> None:
    data = generate(tmp_path, seed=1, scale=0.001, load_day=LOAD_DAY)
    with in_new_database(server) as connection:
        assert load(connection, TABLES, tmp_path) == data
    for table in TABLES:
        file = (tmp_path / f"{table.name}.tsv").read_text().splitlines()
        loaded = server.rows(f"SELECT * FROM {table.name} ORDER BY id")
        assert ["\t".join(map(str, row)) for row in loaded] == file
    for new in ("stories", "comments"):
        columns = ", ".join(column.name for column in _table(new).columns[1:])
        server.rows(f"INSERT INTO {new} ({columns}) SELECT {columns} FROM old_{new} LIMIT 1")
        newest = server.value(f"SELECT MAX(id) FROM {new}")
        assert newest == data.rows[new] + data.rows[f"old_{new}"] + 1


def _table(name: str) -> Table:
    (table,) = [table for table in TABLES if table.name == name]
    return table


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_a_damaged_data_set_is_refused(server: PrivateMariaDB, tmp_path: Path, damage: str) -> None:
    generate(tmp_path, seed=1, scale=0.0005, load_day=LOAD_DAY)
    file = tmp_path / "users.tsv"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1] if damage == "cut" else [*lines[:-1], "x\ty\n"]))
    with in_new_database(server) as connection, pytest.raises(UserError) as refused:
        load(connection, TABLES, tmp_path)
    assert "users.tsv: the database took" in str(refused.value)


@pytest.mark.slow
def test_the_demos_size_is_there_in_ten_seconds(server: PrivateMariaDB, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"

    with in_new_database(server) as connection:
        began = time.monotonic()
        RubbosLoader(1, 0.02, LOAD_DAY, scratch).load(connection)
        took = time.monotonic() - began
    assert took < 10 * pace()
    assert not scratch.exists()
    assert server.value("SELECT COUNT(*) FROM users") == 10_051
