"""Filling a PostgreSQL: COPY from the client, tables made and filled in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pg8000.exceptions import DatabaseError
from pg8000.native import Connection, identifier

from tierlab.workloads.dialect.database import Filled
from tierlab.workloads.dialect.tables import Dialect, Table


class PostgreSQL:
    """The connection's database."""

    dialect = Dialect.POSTGRESQL

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # What is made in the transaction that fills it need not be logged with wal_level=minimal.
        connection.run("START TRANSACTION")

    def run(self, statements: Iterable[str]) -> None:
        """Run statements that give no rows."""
        for statement in statements:
            self._connection.run(statement)

    def number(self, statement: str) -> int:
        """The one whole number that a statement gives."""
        rows = self._connection.run(statement)
        return int(rows[0][0]) if rows else 0

    def fill(self, table: Table, file: Path) -> Filled:
        """Bring in the rows of a table's file, all of them or none."""
        try:
            with file.open("rb") as rows:
                self._connection.run(f"COPY {identifier(table.name)} FROM STDIN", stream=rows)
        except DatabaseError as error:
            self._connection.run("ROLLBACK")
            return Filled(0, str(error.args[0]["M"]))
        return Filled(self._connection.row_count, "")

    def number_from(self, table: Table, least: int) -> None:
        """Give the table's next row this id."""
        self._connection.run(
            "SELECT setval(pg_get_serial_sequence(:name, :key), :least, false)",
            name=table.name,
            key=table.columns[0].name,
            least=least,
        )

    def settle(self, tables: Sequence[Table]) -> None:
        """Commit, and take the tables' statistics; frozen rows are not written anew by reading."""
        self._connection.run("COMMIT")
        names = ", ".join(identifier(table.name) for table in tables)
        self._connection.run(f"VACUUM (FREEZE, ANALYZE) {names}")
