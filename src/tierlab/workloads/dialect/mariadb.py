"""Filling a MariaDB: LOAD DATA, which the connection must allow (`local_infile`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pymysql.connections import Connection
from pymysql.cursors import Cursor

from tierlab.workloads.dialect.database import Filled
from tierlab.workloads.dialect.tables import Dialect, Table


class MariaDB:
    """The connection's database."""

    dialect = Dialect.MARIADB

    def __init__(self, connection: Connection[Cursor]) -> None:
        self._connection = connection
        # Without it a row whose id is 0 would get a new id.
        self.run(["SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"])

    def run(self, statements: Iterable[str]) -> None:
        """Run statements that give no rows."""
        with self._connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def number(self, sql: str) -> int:
        """The one whole number that a statement gives."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            row = cursor.fetchone()
            return int(row[0]) if row else 0

    def fill(self, table: Table, file: Path) -> Filled:
        """Bring in the rows of a table's file; what does not fit is a warning."""
        with self._connection.cursor() as cursor:
            cursor.execute(
                f"LOAD DATA LOCAL INFILE %s INTO TABLE {table.name} CHARACTER SET utf8mb4"
                r" FIELDS TERMINATED BY '\t' ESCAPED BY '' LINES TERMINATED BY '\n'",
                (str(file),),
            )
            cursor.execute("SHOW WARNINGS")
            warnings = cursor.fetchall()
        arrived = self.number(f"SELECT COUNT(*) FROM {table.name}")
        return Filled(arrived, str(warnings[0][2]) if warnings else "")

    def number_from(self, table: Table, least: int) -> None:
        """Give the table's next row at least this id."""
        self.run([f"ALTER TABLE {table.name} AUTO_INCREMENT = {least}"])

    def settle(self, tables: Sequence[Table]) -> None:
        """Commit, and take the tables' statistics."""
        self._connection.commit()
        with self._connection.cursor() as cursor:
            cursor.execute(f"ANALYZE TABLE {', '.join(table.name for table in tables)}")
            cursor.fetchall()
