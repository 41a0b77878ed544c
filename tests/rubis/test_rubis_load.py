"""Loading data sets into real databases of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.workloads.dialect.files import table_file
from tierlab.workloads.dialect.loader import DataLoader, load
from tierlab.workloads.rubbos.load import RubbosLoader
from tierlab.workloads.rubis.load import RubisLoader

from .databases import KINDS, Server, in_new_database, server

pytestmark = pytest.mark.slow
LOAD_DAY = date(2026, 11, 20)
LOADERS = (RubisLoader, RubbosLoader)
SCALE = 0.0002


@pytest.fixture(scope="module", params=KINDS)
def empty(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    with server(request.param, tmp_path_factory.mktemp("db"), "loaded") as started:
        yield started


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
    kind: type[DataLoader], empty: Server, tmp_path: Path
) -> None:
    loader = kind(1, SCALE, LOAD_DAY, tmp_path / "scratch")
    data = loader.generate(tmp_path)
    with in_new_database(empty) as connection:
        assert load(connection, loader.tables, tmp_path) == data
    for table in loader.tables:
        lines = table_file(tmp_path, table.name).read_text().splitlines()
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
            older = data.rows.get(table.numbered_after, 0)
            highest = max(int(line.split("\t")[0]) for line in lines)
            newest = empty.value(f"SELECT MAX(id) FROM {table.name}")
            assert newest == max(highest, older) + 1


@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_a_damaged_data_set_is_refused(empty: Server, tmp_path: Path, damage: str) -> None:
    loader = RubisLoader(1, SCALE, LOAD_DAY, tmp_path / "scratch")
    loader.generate(tmp_path)
    file = table_file(tmp_path, "users")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1] if damage == "cut" else [*lines[:-1], "x\ty\n"]))
    with in_new_database(empty) as connection, pytest.raises(UserError) as refused:
        load(connection, loader.tables, tmp_path)
    assert "users.tsv: the database took" in str(refused.value)
    assert "of its 200 rows" in str(refused.value)
