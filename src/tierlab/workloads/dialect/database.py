"""What loading asks of a database server, whichever it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from pg8000.native import Connection as PostgreSQLConnection
from pymysql.connections import Connection as MariaDBConnection
from pymysql.cursors import Cursor

from tierlab.workloads.dialect.tables import Dialect, Table

Connection: TypeAlias = "MariaDBConnection[Cursor] | PostgreSQLConnection"
"""A connection of the server's own client library, to an empty database."""


@dataclass(frozen=True)
class Filled:
    """What became of a table's file."""

    rows: int
    complaint: str
    """The server's first, empty where it had none."""


class Database(Protocol):
    """A database on one kind of server, to be filled."""

    @property
    def dialect(self) -> Dialect:
        """Its dialect of SQL."""

    def run(self, statements: Iterable[str]) -> None:
        """Run statements that give no rows."""

    def number(self, sql: str) -> int:
        """The one whole number that a statement gives."""

    def fill(self, table: Table, file: Path) -> Filled:
        """Bring in the rows of a table's file in bulk."""

    def number_from(self, table: Table, least: int) -> None:
        """Give the table's next row at least this id."""

    def settle(self, tables: Sequence[Table]) -> None:
        """Keep everything, with statistics that belong to the data: the optimizer chooses the same
        plans in every trial.
        """


def database(connection: Connection) -> Database:
    """The database that a connection leads to."""
    if isinstance(connection, MariaDBConnection):
        from tierlab.workloads.dialect.mariadb import MariaDB

        return MariaDB(connection)
    from tierlab.workloads.dialect.postgresql import PostgreSQL

    return PostgreSQL(connection)
