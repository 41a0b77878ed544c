"""Two databases of a user's own, of two kinds, each with what is said of it: with real servers."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from talk import nothing, running

from tierlab import experiment
from tierlab.deploy.system import System
from tierlab.environments.native.native import Native
from tierlab.servers.greetings import mysql_login, postgresql_login
from tierlab.workloads.workload import DataKey

pytestmark = [pytest.mark.environments, pytest.mark.privileged, pytest.mark.slow]

WEB = "/usr/bin/python3 -m http.server {port} --bind {address}"


def test_each_has_its_own_tables_and_user(native: Native, tmp_path: Path) -> None:
    (tmp_path / "orders.sql").write_text(
        "CREATE TABLE orders (id SERIAL, name TEXT); INSERT INTO orders (name) VALUES ('pen');"
    )
    (tmp_path / "users.sql").write_text(
        "CREATE TABLE `users` (id INT AUTO_INCREMENT KEY, name TEXT);"
        "INSERT INTO `users` (name) VALUES ('ann');"
    )
    system = of_two(native, tmp_path)
    try:
        system.start(nothing)
        orders, users = running(system, "odb.1"), running(system, "udb.1")
        place, login = orders.endpoint, orders.login
        link = native.connect(place.address, place.port, timeout=20)
        session = postgresql_login(link, login.user, login.password, login.database)
        assert session.run("SELECT name FROM orders") == [["pen"]]
        session.close()
        place, login = users.endpoint, users.login
        link = native.connect(place.address, place.port, timeout=20)
        with (
            mysql_login(link, login.user, login.password, login.database) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT name FROM users")
            assert cursor.fetchall() == (("ann",),)
    finally:
        system.stop()
    assert (orders.login.database, users.login.database) == ("orders", "people")


def of_two(native: Native, folder: Path) -> System:
    asked = experiment.System.of(
        {
            "workload": "own",
            "web": {"command": WEB, "port": 8000, "calls": ["odb", "udb"]},
            "odb": {
                "server": "postgresql",
                "sql": str(folder / "orders.sql"),
                "database": "orders",
            },
            "udb": {
                "server": "mariadb",
                "sql": str(folder / "users.sql"),
                "user": "clerk",
                "database": "people",
            },
            "sessions": {"start": "/"},
        }
    )
    data = DataKey(asked.scale, 1, date(2026, 11, 20))
    content = asked.application.content(native, data, asked.fidelity)
    return System(asked, content, native, folder / "logs")
