from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rubis.databases import KINDS, SEED, Server, in_new_database, server, today
from tierlab.workloads.dialect.loader import load
from tierlab.workloads.olio.generate import generate
from tierlab.workloads.olio.population import Population
from tierlab.workloads.olio.schema import TABLES

from .browser import Browser
from .php import Olio, olio

SMALL = 2
"""Concurrent users."""


@pytest.fixture(scope="package")
def population() -> Population:
    return Population(SMALL, today())


@pytest.fixture(scope="package")
def data(population: Population, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small data set."""
    folder = tmp_path_factory.mktemp("data")
    generate(folder, population, seed=SEED, scale=SMALL / 1_000)
    return folder


@pytest.fixture(scope="package", params=KINDS)
def database(
    request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A database with the data set, of each kind in turn; each is started once."""
    with server(request.param, tmp_path_factory.mktemp("db"), "olio") as started:
        with in_new_database(started) as connection:
            load(connection, TABLES, data)
        yield started


@pytest.fixture(scope="package")
def app(database: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Olio]:
    """The application in its corrected form."""
    with olio(tmp_path_factory.mktemp("app"), database) as started:
        yield started


@pytest.fixture
def browser(app: Olio) -> Browser:
    """A visitor who has not been there before."""
    return Browser(app.port)


@pytest.fixture
def user(app: Olio) -> Browser:
    """`user7`, logged in."""
    visitor = Browser(app.port)
    assert visitor.login(7).status == 303
    return visitor
