from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tierlab.workloads.rubbos.load import RubbosLoader

from .application import Running, running
from .private_mariadb import PrivateMariaDB, free_port, private_mariadb

SCALE = 0.005
Start = Callable[..., Running]


@pytest.fixture(scope="session")
def load_day() -> date:
    return datetime.now(UTC).date()


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory, load_day: date) -> Iterator[PrivateMariaDB]:
    """A MariaDB with a small data set."""
    folder = tmp_path_factory.mktemp("db")
    with private_mariadb(folder) as server:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE rubbos CHARACTER SET utf8mb4")
            cursor.execute("GRANT ALL ON rubbos.* TO rubbos@'%' IDENTIFIED BY 'secret'")
            connection.select_db("rubbos")
            RubbosLoader(1, SCALE, load_day, folder / "tsv").load(connection)
        yield server


@pytest.fixture(scope="session")
def app(database: PrivateMariaDB, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The application in its corrected form."""
    settings = {"jdbc.url": database.jdbc_url, "pool.size": 4}
    with running(tmp_path_factory.mktemp("app"), free_port(), settings) as application:
        yield application


@pytest.fixture
def start(database: PrivateMariaDB, tmp_path: Path) -> Iterator[Start]:
    """Starts further applications with settings of their own."""
    with ExitStack() as stack:

        def start(**settings: object) -> Running:
            named = {key.replace("_", "."): value for key, value in settings.items()}
            port = free_port()
            given = {"jdbc.url": database.jdbc_url} | named
            return stack.enter_context(running(tmp_path / str(port), port, given))

        yield start
