"""What database servers and those that log in to them agree on."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Protocol

PASSWORD_BYTES = 18


@dataclass(frozen=True)
class Credentials:
    """What the application logs in with, to a database of which nobody else has an account."""

    user: str
    password: str
    database: str

    @classmethod
    def drawn(cls, name: str) -> Credentials:
        """Draw a password for the user and database `name`: one trial's, known to nobody before."""
        return cls(name, secrets.token_urlsafe(PASSWORD_BYTES), name)


class Loader(Protocol):
    """Fills a workload's database."""

    @property
    def key(self) -> str:
        """Name all that the data depends on: workload, scale, seed, schema, date of loading.

        Equal keys mean equal data. It is part of a file name.
        """

    def load(self, connection: Any) -> None:
        """Make the tables in the connection's (empty) database and fill them.

        The connection is PyMySQL's, which allows LOAD DATA LOCAL, or pg8000's.
        """
