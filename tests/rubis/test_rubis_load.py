"""Loading data sets into real databases of each kind."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.workloads.dialect.files import DataSet, table_file
from tierlab.workloads.dialect.loader import load
from tierlab.workloads.dialect.tables import Table
from tierlab.workloads.rubbos.load import RubbosLoader
from tierlab.workloads.rubis.load import RubisLoader

from .databases import Server, in_new_database

pytestmark = pytest.mark.slow
LOAD_DAY = date(2026, 11, 20)
SCALE = 0.0002


@pytest.fixture
def empty(database: Server) -> Server:
    """Beside the other tests' database, on the same server."""
    return replace(database, name="loaded")


def test_equal_keys_mean_equal_data(tmp_path: Path) -> None:
    one = RubisLoader(1, 0.02, LOAD_DAY, tmp_path)
    assert one.key == RubisLoader(1, 0.02, LOAD_DAY, tmp_path / "elsewhere").key
    others = {
        RubisLoader(2, 0.02, LOAD_DAY, tmp_path).key,
        RubisLoader(1, 0.021, LOAD_DAY, tmp_path).key,
        RubisLoader(1, 0.02, date(2026, 11, 21), tmp_path).key,
        RubbosLoader(1, 0.02, LOAD_DAY, tmp_path).key,
    }
    assert len(others | {one.key}) == 5


def lines(folder: Path, table: Table) -> list[str]:
    return table_file(folder, table.name).read_text().splitlines()


def loaded(database: Server, table: Table, highest: int) -> list[str]:
    found = database.rows(f"SELECT * FROM {table.name} WHERE id <= %s ORDER BY id", highest)
    return ["\t".join(map(str, row)) for row in found]


def test_every_row_arrives_and_numbering_goes_on(empty: Server, tmp_path: Path) -> None:
    """Of RUBBoS, whose tables have rows numbered 0 and pairs that share their numbers."""
    RubbosLoader(1, SCALE, LOAD_DAY, tmp_path / "scratch").generate(tmp_path)
    rows = DataSet.read(tmp_path).rows
    with in_new_database(empty) as connection:
        load(connection, RubbosLoader.tables, tmp_path)
    for table in RubbosLoader.tables:
        made = lines(tmp_path, table)
        assert loaded(empty, table, len(made) + rows.get(table.numbered_after, 0)) == made
        if table.numbers_itself and made:
            columns = [column.name for column in table.columns[1:]]
            unique = {name for names in table.unique for name in names}
            copied = ["'new'" if name in unique else name for name in columns]
            empty.rows(
                f"INSERT INTO {table.name} ({', '.join(columns)})"
                f" SELECT {', '.join(copied)} FROM {table.name} ORDER BY id LIMIT 1"
            )
            highest = max(int(line.split("\t")[0]) for line in made)
            newest = empty.value(f"SELECT MAX(id) FROM {table.name}")
            assert newest == max(highest, rows.get(table.numbered_after, 0)) + 1


@pytest.mark.parametrize(
    "name", ["categories", "regions", "old_items", "bids", "comments", "buy_now"]
)
def test_rubis_has_the_rows_of_its_files(name: str, database: Server, data: Path) -> None:
    """Of the tables whose rows no page changes."""
    (table,) = [table for table in RubisLoader.tables if table.name == name]
    made = lines(data, table)
    assert loaded(database, table, len(made)) == made


@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_a_damaged_data_set_is_refused(empty: Server, tmp_path: Path, damage: str) -> None:
    loader = RubbosLoader(1, SCALE, LOAD_DAY, tmp_path / "scratch")
    loader.generate(tmp_path)
    file = table_file(tmp_path, "users")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1] if damage == "cut" else [*lines[:-1], "x\ty\n"]))
    with in_new_database(empty) as connection, pytest.raises(UserError) as refused:
        load(connection, loader.tables, tmp_path)
    assert "users.tsv: the database took" in str(refused.value)
    assert "of its 151 rows" in str(refused.value)


def test_a_loader_leaves_no_files_behind(empty: Server, tmp_path: Path) -> None:
    loader = RubbosLoader(1, SCALE, LOAD_DAY, tmp_path / "scratch")
    with in_new_database(empty) as connection:
        loader.load(connection)
    assert empty.value("SELECT COUNT(*) FROM users") == 151
    assert not loader.scratch.exists()
