"""Loading data sets into real databases of each kind."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.workloads.dialect.files import DataSet, table_file
from tierlab.workloads.dialect.loader import DataLoader, load
from tierlab.workloads.rubbos.load import RubbosLoader
from tierlab.workloads.rubis.load import RubisLoader

from .databases import Server, in_new_database

pytestmark = pytest.mark.slow
LOAD_DAY = date(2026, 11, 20)
LOADERS = (RubisLoader, RubbosLoader)
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


@pytest.mark.parametrize("kind", LOADERS)
def test_every_row_arrives_and_numbering_goes_on(
    kind: type[DataLoader], empty: Server, data: Path, tmp_path: Path
) -> None:
    folder = data if kind is RubisLoader else tmp_path
    if kind is RubbosLoader:
        kind(1, SCALE, LOAD_DAY, tmp_path / "scratch").generate(folder)
    rows = DataSet.read(folder).rows
    with in_new_database(empty) as connection:
        load(connection, kind.tables, folder)
    for table in kind.tables:
        lines = table_file(folder, table.name).read_text().splitlines()
        loaded = empty.rows(f"SELECT * FROM {table.name} ORDER BY id")
        assert ["\t".join(map(str, row)) for row in loaded] == lines
        if table.numbers_itself and lines:
            columns = ", ".join(column.name for column in table.columns[1:])
            made = f"INSERT INTO {table.name} ({columns})"
            unique = {name for columns in table.unique for name in columns}
            taken = ", ".join(
                "'new'" if column.name in unique else column.name for column in table.columns[1:]
            )
            empty.rows(f"{made} SELECT {taken} FROM {table.name} ORDER BY id LIMIT 1")
            older = rows.get(table.numbered_after, 0)
            highest = max(int(line.split("\t")[0]) for line in lines)
            newest = empty.value(f"SELECT MAX(id) FROM {table.name}")
            assert newest == max(highest, older) + 1


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
