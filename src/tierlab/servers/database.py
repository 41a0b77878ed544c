"""What database servers and those that log in to them agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pymysql.connections import Connection
from pymysql.cursors import Cursor


@dataclass(frozen=True)
class Credentials:
    """What the application logs in with. The password guards nothing but a trial's made-up data."""

    user: str
    password: str
    database: str


class Loader(Protocol):
    """Fills a workload's database."""

    @property
    def key(self) -> str:
        """Name all that the data depends on: workload, scale, seed, schema, date of loading.

        Equal keys mean equal data. It is part of a file name.
        """

    def load(self, connection: Connection[Cursor]) -> None:
        """Make the tables in the connection's (empty) database and fill them.

        The connection allows LOAD DATA LOCAL.
        """
