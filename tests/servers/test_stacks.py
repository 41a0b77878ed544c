"""Each stack that a workload may run on serves it natively: pages, and rows that are read back from
every database."""

from __future__ import annotations

import http.client
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from talk import LOAD_DAY, nothing

from tests.figures import figure
from tests.pace import pace
from tierlab import experiment
from tierlab.deploy.system import System
from tierlab.environments.native.native import Native
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.greetings import mysql_login, postgresql_login
from tierlab.workloads.workload import DataKey

pytestmark = [pytest.mark.environments, pytest.mark.privileged, pytest.mark.slow]

UP_SECONDS = 60.0
MEMBER = {"firstname": "Ada", "lastname": "L", "email": "a@b.example", "password": "pw"}
REGISTRATION = {
    "rubis": ("/rubis/php/RegisterUser.php", {"region": "Oslo"}),
    "rubbos": ("/rubbos/servlet/RegisterUser", {}),
}
"""The page by which somebody becomes a user, and what it asks for besides."""
STACKS = {
    "nginx, PHP-FPM, PostgreSQL": {"workload": "rubis"},
    "httpd, PHP-FPM, MariaDB": {
        "workload": "rubis",
        "web": {"server": "httpd"},
        "db": {"server": "mariadb"},
    },
    "two httpd with PHP, PostgreSQL": {
        "workload": "rubis",
        "web": {"server": "httpd-php", "count": 2},
    },
    "RUBBoS on PostgreSQL": {"workload": "rubbos", "db": {"server": "postgresql"}},
    "RUBBoS on three behind pgpool": {
        "workload": "rubbos",
        "lb": {"server": "pgpool"},
        "db": {"server": "postgresql", "count": 3},
    },
}


@pytest.fixture(params=STACKS, ids=lambda name: name.replace(" ", "-"))
def shape(request: pytest.FixtureRequest) -> experiment.System:
    return experiment.System.of({**STACKS[request.param], "scale": 0.001})


@pytest.fixture
def system(shape: experiment.System, native: Native, tmp_path: Path) -> Iterator[System]:
    content = shape.application.content(native, DataKey(0.001, 1, LOAD_DAY), shape.fidelity)
    made = System(shape, content, native, tmp_path / "logs")
    yield made
    made.stop()


def asked(native: Native, where: Endpoint, method: str, path: str, **form: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(str(where))
    connection.sock = native.connect(where.address, where.port, timeout=20)
    with closing(connection):
        headers = {"X-Request-Id": "beef", "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, urllib.parse.urlencode(form), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def rows(native: Native, system: System, where: Endpoint, statement: str) -> list[Any]:
    link = native.connect(where.address, where.port, timeout=20)
    known = system.credentials
    if where.protocol == "postgresql":
        with closing(
            postgresql_login(link, known.user, known.password, known.database)
        ) as connection:
            return list(connection.run(statement))
    with (
        mysql_login(link, known.user, known.password, known.database) as login,
        login.cursor() as cursor,
    ):
        cursor.execute(statement)
        return list(cursor.fetchall())


def test_a_stack_serves_pages_and_what_is_written_is_in_every_database(
    shape: experiment.System,
    system: System,
    native: Native,
    tmp_path: Path,
) -> None:
    began = time.monotonic()
    system.start(nothing)
    figure(f"up in {time.monotonic() - began:.1f} s, its data made with it")
    assert time.monotonic() - began < UP_SECONDS * pace()
    places = system.places
    first, *other_webs = [place.endpoint for place in places if place.tier == "web"]
    path, more = REGISTRATION[shape.workload]
    status, page = asked(native, first, "POST", path, nickname="ada", **MEMBER, **more)
    assert status == 200, page
    assert "</html>" in page.lower()
    for web in other_webs:
        status, page = asked(native, web, "POST", path, nickname="bob", **MEMBER, **more)
        assert status == 200, page
    databases = [place.endpoint for place in places if place.tier == "db"]
    assert len(databases) == shape.tiers["db"].count
    for database in databases:
        found = rows(
            native, system, database, "SELECT firstname, email FROM users WHERE nickname = 'ada'"
        )
        assert [tuple(row) for row in found] == [("Ada", "a@b.example")]
    system.check()
    system.stop()
    for place in places:
        if shape.tiers[place.tier].software.ports.keys() & {"http", "fcgi", "ajp"}:
            log = tmp_path / "logs" / place.name / "logs" / "access.log"
            assert "beef" in log.read_text(), place.name
