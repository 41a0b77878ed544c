"""Generates a data set, loads it into a database in bulk, and checks that all of it arrived."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from shutil import rmtree
from types import ModuleType
from typing import ClassVar

from tierlab.errors import UserError
from tierlab.workloads.dialect.database import Connection, Database, database
from tierlab.workloads.dialect.files import DataSet, table_file
from tierlab.workloads.dialect.tables import Table, index_ddl, table_ddl


@dataclass(frozen=True)
class DataLoader(ABC):
    """Generates a data set and fills an empty database with it; one class for each workload."""

    name: ClassVar[str]
    tables: ClassVar[tuple[Table, ...]]
    sources: ClassVar[tuple[ModuleType, ...]]
    """The workload's modules that the data depends on."""

    seed: int
    scale: float
    load_day: date
    """The data is as of its beginning; UTC."""
    scratch: Path
    """A folder that does not exist, for the files between; it is gone afterwards."""

    @abstractmethod
    def generate(self, folder: Path) -> DataSet:
        """Write the data set's files into a folder."""

    @property
    def key(self) -> str:
        """Names all that the data depends on, the sources that make it included."""
        day = f"{self.load_day:%Y%m%d}"
        return f"{self.name}-scale{self.scale:g}-seed{self.seed}-{day}-{self.made_by}"

    @property
    def made_by(self) -> str:
        """Names the sources that make the data."""
        sources = hashlib.sha256()
        modules = [Path(str(module.__file__)) for module in self.sources]
        for file in (*modules, *sorted(Path(__file__).parent.glob("*.py"))):
            sources.update(file.read_bytes())
        return sources.hexdigest()[:12]

    def load(self, connection: Connection) -> None:
        """Make and fill the tables in the connection's database.

        A connection to MariaDB must allow LOAD DATA LOCAL; one to PostgreSQL must be in no
        transaction. Raises `UserError` when what arrived is not what was generated.
        """
        with _folder(self.scratch):
            self.generate(self.scratch)
            load(connection, self.tables, self.scratch)


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    path.mkdir(parents=True)
    try:
        yield
    finally:
        rmtree(path)


def load(connection: Connection, tables: Sequence[Table], folder: Path) -> DataSet:
    """Make the tables in the connection's database and fill them from a data set's folder."""
    data = DataSet.read(folder)
    target = database(connection)
    target.run(table_ddl(tables, target.dialect))
    for table in tables:
        file = table_file(folder, table.name)
        expected = data.rows[table.name]
        filled = target.fill(table, file)
        if filled.complaint or filled.rows != expected:
            said = f" ({filled.complaint})" if filled.complaint else ""
            raise UserError(
                f"{file}: the database took {filled.rows} of its {expected} rows{said}; generate"
                " the data set again."
            )
    target.run(index_ddl(tables, target.dialect))
    _continue_numbering(target, tables)
    target.settle(tables)
    return data


def _continue_numbering(target: Database, tables: Sequence[Table]) -> None:
    for table in tables:
        if table.numbers_itself:
            names = [name for name in (table.name, table.numbered_after) if name]
            key = table.columns[0].name
            highest = (f"SELECT COALESCE(MAX({key}), 0) FROM {name}" for name in names)
            target.number_from(table, max(map(target.number, highest)) + 1)
