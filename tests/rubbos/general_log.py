"""MariaDB's own log of the statements it received."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .private_mariadb import PrivateMariaDB


@dataclass(frozen=True)
class GeneralLog:
    database: PrivateMariaDB

    def of_application(self) -> list[str]:
        """The application's statements since the log was opened, in their order."""
        return [
            row[0]
            for row in self.database.rows(
                "SELECT argument FROM mysql.general_log WHERE command_type = 'Query'"
                " AND user_host LIKE %s ORDER BY event_time",
                f"{self.database.name}[%",
            )
        ]


@contextmanager
def general_log(database: PrivateMariaDB) -> Iterator[GeneralLog]:
    database.rows("SET GLOBAL log_output = 'TABLE'")
    database.rows("TRUNCATE TABLE mysql.general_log")
    database.rows("SET GLOBAL general_log = ON")
    try:
        yield GeneralLog(database)
    finally:
        database.rows("SET GLOBAL general_log = OFF")
