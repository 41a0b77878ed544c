"""The databases that RUBiS runs on, each started and filled for the tests of one package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from tests.rubbos.private_mariadb import PrivateMariaDB, private_mariadb
from tierlab.workloads.dialect.database import Connection

from .private_postgresql import PrivatePostgreSQL, private_postgresql

Server = PrivateMariaDB | PrivatePostgreSQL
KINDS = ("mariadb", "postgresql")
SCALE = 0.001
SEED = 1


@contextmanager
def server(kind: str, folder: Path, name: str) -> Iterator[Server]:
    """A server of that kind, without the database of this name."""
    if kind == "mariadb":
        with private_mariadb(folder, name) as mariadb:
            yield mariadb
    else:
        with private_postgresql(name) as postgresql:
            yield postgresql


@contextmanager
def in_new_database(server: Server) -> Iterator[Connection]:
    """A connection to the server's database, made anew, with an account of the same name."""
    name = server.name
    if isinstance(server, PrivateMariaDB):
        with server.connect() as connection:
            with connection.cursor() as cursor:
                cursor.execute(f"DROP DATABASE IF EXISTS {name}")
                cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
                cursor.execute(f"GRANT ALL ON {name}.* TO {name}@'%' IDENTIFIED BY 'secret'")
            connection.select_db(name)
            yield connection
        return
    with server.connect() as administrator:
        administrator.run(f"DROP DATABASE IF EXISTS {name}")
        administrator.run(f"DROP ROLE IF EXISTS {name}")
        administrator.run(f"CREATE ROLE {name} LOGIN PASSWORD 'secret'")
        administrator.run(f"CREATE DATABASE {name}")
    with server.connect(name) as connection:
        # What is made later belongs to the administrator, and is the application's to change.
        for objects in ("TABLES", "SEQUENCES"):
            connection.run(f"ALTER DEFAULT PRIVILEGES GRANT ALL ON {objects} TO {name}")
        yield connection


def dsn(server: Server) -> str:
    """The server's database for PDO."""
    if isinstance(server, PrivateMariaDB):
        return f"mysql:host=127.0.0.1;port={server.port};dbname={server.name};charset=utf8mb4"
    return f"pgsql:host=127.0.0.1;port={server.port};dbname={server.name}"


def today() -> date:
    """The day that pages call today."""
    return datetime.now(UTC).date()
