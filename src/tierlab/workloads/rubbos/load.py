"""Loads a generated data set into a MariaDB in bulk and checks that all of it arrived."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from shutil import rmtree

from pymysql.connections import Connection
from pymysql.cursors import Cursor

from tierlab.errors import UserError
from tierlab.workloads.rubbos.generate import DataSet, generate
from tierlab.workloads.rubbos.schema import TABLES, Dialect, Table, index_ddl, table_ddl

_SOURCES = ("categories", "dictionary", "generate", "load", "population", "schema", "text")


@dataclass(frozen=True)
class RubbosLoader:
    """Generates a data set and fills an empty database with it."""

    seed: int
    scale: float
    load_day: date
    """The data ends with the day before; UTC."""
    scratch: Path
    """A folder that does not exist, for the files between; it is gone afterwards."""

    @property
    def key(self) -> str:
        """Names all that the data depends on, the sources that make it included."""
        sources = hashlib.sha256()
        for name in _SOURCES:
            sources.update(Path(__file__).with_name(f"{name}.py").read_bytes())
        made_by = sources.hexdigest()[:12]
        return f"rubbos-scale{self.scale:g}-seed{self.seed}-{self.load_day:%Y%m%d}-{made_by}"

    def load(self, connection: Connection[Cursor]) -> None:
        """Make and fill the tables in the connection's database.

        The connection must allow LOAD DATA LOCAL. Raises `UserError` when what arrived is not
        what was generated.
        """
        with _folder(self.scratch):
            generate(self.scratch, seed=self.seed, scale=self.scale, load_day=self.load_day)
            load(connection, self.scratch)


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    path.mkdir(parents=True)
    try:
        yield
    finally:
        rmtree(path)


def load(connection: Connection[Cursor], folder: Path) -> DataSet:
    """Make the tables in the connection's database and fill them from `generate`'s folder."""
    data = DataSet.read(folder)
    with connection.cursor() as cursor:
        # Without it MariaDB would give the anonymous user, whose id is 0, a new id.
        cursor.execute("SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')")
        for statement in table_ddl(Dialect.MARIADB):
            cursor.execute(statement)
        for table in TABLES:
            _fill(cursor, table, folder / f"{table.name}.tsv", data.rows[table.name])
        connection.commit()
        for statement in index_ddl(Dialect.MARIADB):
            cursor.execute(statement)
        _continue_numbering(cursor)
        # Statistics that belong to the data: the optimizer chooses the same plans in every trial.
        cursor.execute(f"ANALYZE TABLE {', '.join(table.name for table in TABLES)}")
        cursor.fetchall()
    return data


def _fill(cursor: Cursor, table: Table, file: Path, rows: int) -> None:
    cursor.execute(
        f"LOAD DATA LOCAL INFILE %s INTO TABLE {table.name} CHARACTER SET utf8mb4"
        r" FIELDS TERMINATED BY '\t' ESCAPED BY '' LINES TERMINATED BY '\n'",
        (str(file),),
    )
    cursor.execute("SHOW WARNINGS")
    warnings = cursor.fetchall()
    arrived = _number(cursor, f"SELECT COUNT(*) FROM {table.name}")
    if warnings or arrived != rows:
        said = f" ({warnings[0][2]})" if warnings else ""
        raise UserError(
            f"{file}: the database took {arrived} of its {rows} rows{said}; generate the data"
            " set again."
        )


def _continue_numbering(cursor: Cursor) -> None:
    """New stories and comments must not take the id of an old one: pages look up both tables."""
    for new, old in (("stories", "old_stories"), ("comments", "old_comments")):
        least = _number(cursor, f"SELECT COALESCE(MAX(id), 0) + 1 FROM {old}")
        # The server itself goes above the table's own greatest id where that is more.
        cursor.execute(f"ALTER TABLE {new} AUTO_INCREMENT = {least}")


def _number(cursor: Cursor, sql: str) -> int:
    cursor.execute(sql)
    row = cursor.fetchone()
    return int(row[0]) if row else 0
