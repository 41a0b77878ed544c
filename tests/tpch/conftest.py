"""TPC-H's data in a PostgreSQL and in DuckDB, which is asked the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb
import pytest

from tests.rubis.private_postgresql import PrivatePostgreSQL, private_postgresql
from tests.tpch.answers import Answer, answer
from tierlab.workloads.dialect.files import table_file
from tierlab.workloads.dialect.loader import load
from tierlab.workloads.dialect.tables import Dialect, Table, table_ddl
from tierlab.workloads.tpch.load import TpchLoader
from tierlab.workloads.tpch.schema import TABLES

PARALLEL = {
    "max_parallel_workers_per_gather": "2",
    "min_parallel_table_scan_size": "0",
    "parallel_setup_cost": "0",
    "parallel_tuple_cost": "0",
    "dynamic_shared_memory_type": "mmap",
    "jit": "off",
}
"""Workers help with small tables too."""


@dataclass(frozen=True)
class Databases:
    scale: float
    postgresql: PrivatePostgreSQL
    duckdb: duckdb.DuckDBPyConnection

    def asked(self, statement: str) -> Answer:
        return asked(self.postgresql, statement)

    def expected(self, statement: str) -> Answer:
        return answer(self.duckdb.execute(statement).fetchall())


@contextmanager
def databases(scale: float, folder: Path) -> Iterator[Databases]:
    files = folder / "data"
    with loaded(scale, files, TABLES) as server, closing(duckdb.connect()) as other:
        for statement in table_ddl(TABLES, Dialect.POSTGRESQL):
            other.execute(statement)
        for table in TABLES:
            file = table_file(files, table.name)
            other.execute(f"COPY {table.name} FROM '{file}' (DELIMITER '\t')")
        yield Databases(scale, server, other)


@contextmanager
def loaded(
    scale: float, files: Path, tables: Sequence[Table], **settings: str
) -> Iterator[PrivatePostgreSQL]:
    """A PostgreSQL with the data of a scale, which stay in a folder too."""
    TpchLoader(1, scale, date(2026, 11, 20), files).generate(files)
    with private_postgresql("tpch", **PARALLEL, **settings) as server:
        with closing(server.connect()) as first:
            first.run("CREATE DATABASE tpch")
        with closing(server.connect("tpch")) as connection:
            load(connection, tables, files)
        yield server


def asked(server: PrivatePostgreSQL, statement: str) -> Answer:
    with closing(server.connect(server.name)) as connection:
        return answer(connection.run(statement) or [])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    with databases(0.01, tmp_path_factory.mktemp("tpch")) as found:
        yield found
