from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tierlab.workloads.dialect.loader import load
from tierlab.workloads.rubis.generate import generate
from tierlab.workloads.rubis.schema import TABLES

from .databases import KINDS, SCALE, SEED, Server, in_new_database, server, today
from .php import Rubis, rubis


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small data set."""
    folder = tmp_path_factory.mktemp("data")
    generate(folder, seed=SEED, scale=SCALE, load_day=today())
    return folder


@contextmanager
def filled(kind: str, data: Path, folder: Path) -> Iterator[Server]:
    with server(kind, folder, "rubis") as started:
        with in_new_database(started) as connection:
            load(connection, TABLES, data)
        yield started


@pytest.fixture(scope="package")
def mariadb(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with filled("mariadb", data, tmp_path_factory.mktemp("db")) as started:
        yield started


@pytest.fixture(scope="package")
def postgresql(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with filled("postgresql", data, tmp_path_factory.mktemp("db")) as started:
        yield started


@pytest.fixture(scope="package", params=KINDS)
def database(request: pytest.FixtureRequest) -> Server:
    """A database with the data set, of each kind in turn; each is started once."""
    started: Server = request.getfixturevalue(request.param)
    return started


@pytest.fixture(scope="package")
def app(database: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rubis]:
    """The application in its corrected form."""
    with rubis(tmp_path_factory.mktemp("app"), database) as started:
        yield started


@pytest.fixture(scope="package")
def published(database: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rubis]:
    """The application in its published form."""
    with rubis(
        tmp_path_factory.mktemp("published"), database, RUBIS_FIDELITY="published"
    ) as started:
        yield started
