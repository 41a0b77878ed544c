"""Filling a PostgreSQL: COPY from the client, tables made and filled in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from tierlab.workloads.dialect.database import Filled
from tierlab.workloads.dialect.tables import Dialect, Table

_CHUNK_BYTES = 1 << 20


class PostgreSQL:
    """The connection's database."""

    dialect = Dialect.POSTGRESQL

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        # What is made in the transaction that fills it need not be logged with wal_level=minimal.
        connection.autocommit = False

    def run(self, statements: Iterable[str]) -> None:
        """Run statements that give no rows."""
        for statement in statements:
            # They come from the tables' declarations, no user has a part in them.
            self._connection.execute(statement.encode())

    def number(self, statement: str) -> int:
        """The one whole number that a statement gives."""
        row = self._connection.execute(statement.encode()).fetchone()
        return int(row[0]) if row else 0

    def fill(self, table: Table, file: Path) -> Filled:
        """Bring in the rows of a table's file, all of them or none."""
        statement = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table.name))
        with self._connection.cursor() as cursor:
            try:
                with cursor.copy(statement) as copy, file.open("rb") as rows:
                    while chunk := rows.read(_CHUNK_BYTES):
                        copy.write(chunk)
            except psycopg.DataError as error:
                self._connection.rollback()
                return Filled(0, error.diag.message_primary or str(error))
            return Filled(cursor.rowcount, "")

    def number_from(self, table: Table, least: int) -> None:
        """Give the table's next row this id."""
        key = table.columns[0].name
        self._connection.execute(
            "SELECT setval(pg_get_serial_sequence(%s, %s), %s, false)", (table.name, key, least)
        )

    def settle(self, tables: Sequence[Table]) -> None:
        """Commit, and take the tables' statistics; frozen rows are not written anew by reading."""
        self._connection.commit()
        self._connection.autocommit = True
        names = sql.SQL(", ").join(sql.Identifier(table.name) for table in tables)
        self._connection.execute(sql.SQL("VACUUM (FREEZE, ANALYZE) {}").format(names))
