"""Statements to a real PostgreSQL: logged in once a user, rows counted, errors by their codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.pace import wait_until
from tests.rubis.private_postgresql import PrivatePostgreSQL, private_postgresql

from .driving import MILLISECOND, SECOND, Driver

pytestmark = pytest.mark.slow
LOGIN = {"user": "asker", "password": "a, secret", "database": "asked"}


@pytest.fixture(scope="module")
def server() -> Iterator[PrivatePostgreSQL]:
    with private_postgresql(LOGIN["database"], log_connections="on") as found:
        with closing(found.connect()) as first:
            first.run(f"CREATE ROLE {LOGIN['user']} LOGIN PASSWORD '{LOGIN['password']}'")
            first.run(f"CREATE DATABASE {LOGIN['database']}")
        yield found


def workload(*sessions: tuple[str, ...], **statements: list[str]) -> dict[str, Any]:
    """Each session asks for its states, one after the other, and round again."""
    return {
        "name": "statements",
        "home": next(iter(statements)),
        "states": [{"name": name, "statements": said} for name, said in statements.items()],
        "sessions": [
            {
                "name": str(number),
                "share": 1 / len(sessions),
                "home": order[0],
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": {
                    name: [(after, 1.0)]
                    for name, after in zip(order, order[1:] + order[:1], strict=True)
                },
            }
            for number, order in enumerate(sessions)
        ],
        "sessions_in_turn": True,
        "rules": {"start": "at_once"},
    }


def target(server: PrivatePostgreSQL, **changed: str) -> list[dict[str, Any]]:
    return [{"address": "127.0.0.1", "port": server.port, "login": {**LOGIN, **changed}}]


def test_each_user_logs_in_once_and_gets_its_rows(
    server: PrivatePostgreSQL, tmp_path: Path
) -> None:
    three = "SELECT n, repeat('x', 1000) FROM generate_series(1, 300) n"
    asked = workload(("one", "many"), ("many", "one"), one=["SELECT 1"], many=[three])
    before = server.log.read_text().count("connection authenticated")

    driven = Driver(tmp_path / "d")(
        server.port, asked, users=4, targets=target(server), connection="keep_alive", think_ms=5
    )

    requests = driven.requests
    assert driven.summary["errors"] == 0
    assert requests.status.isna().all()
    assert set(requests.protocol) == {"postgresql"}
    # Users take the sessions in turn: each begins with its own.
    first = requests.sort_values("start_ns").groupby("user").interaction.first()
    assert list(first) == ["one", "many", "one", "many"]
    counts = requests.interaction.value_counts()
    assert driven.summary["rows"] == counts["one"] + 300 * counts["many"]
    many = requests[requests.interaction == "many"]
    assert (many.bytes > 300_000).all()
    assert (requests.connected_ns.notna().groupby(requests.user).sum() == 1).all()
    assert (requests.first_byte_ns >= requests.start_ns).all()
    assert (requests.end_ns >= requests.first_byte_ns).all()
    after = server.log.read_text().count("connection authenticated")
    assert after - before == 4


def test_an_error_is_told_by_its_code_and_the_user_goes_on(
    server: PrivatePostgreSQL, tmp_path: Path
) -> None:
    asked = workload(("good", "bad"), good=["SELECT 1"], bad=["SELECT 1 / 0", "SELECT * FROM no"])

    driven = Driver(tmp_path / "d")(
        server.port, asked, users=2, targets=target(server), connection="keep_alive", think_ms=5
    )

    requests = driven.requests
    assert requests[requests.interaction == "good"].error.isna().all()
    bad = set(requests[requests.interaction == "bad"].error)
    assert bad == {"sqlstate_22012", "sqlstate_42P01"}
    assert (requests.connected_ns.notna().groupby(requests.user).sum() == 1).all()


def test_the_server_gives_up_what_nobody_waits_for(
    server: PrivatePostgreSQL, tmp_path: Path
) -> None:
    asked = workload(("long", "short"), long=["SELECT pg_sleep(60)"], short=["SELECT 1"])
    timeouts = {"connect_ns": None, "request_ns": 200 * MILLISECOND}

    driven = Driver(tmp_path / "d")(
        server.port,
        asked,
        users=2,
        targets=target(server),
        connection="keep_alive",
        seconds=0.5,
        timeouts=timeouts,
        grace_ns=SECOND,
    )

    requests = driven.requests
    long = requests[requests.interaction == "long"]
    assert len(long) >= 2
    assert set(long.error) == {"request_timeout"}
    assert requests[requests.interaction == "short"].error.isna().all()
    with closing(server.connect()) as other:
        running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)'"
        wait_until(lambda: other.run(running) == [[0]], "the end of the statements", seconds=3)
    assert server.log.read_text().count("canceling statement due to user request") == len(long)


@pytest.mark.parametrize(
    ("changed", "error"),
    [({"password": "wrong"}, "sqlstate_28P01"), ({"database": "none"}, "sqlstate_3D000")],
)
def test_who_is_not_let_in_is_told_why(
    changed: dict[str, str], error: str, server: PrivatePostgreSQL, tmp_path: Path
) -> None:
    driven = Driver(tmp_path / "d")(
        server.port,
        workload(("one",), one=["SELECT 1"]),
        users=1,
        seconds=0.3,
        targets=target(server, **changed),
        connection="keep_alive",
    )

    assert set(driven.requests.error) == {error}


def test_a_page_and_statements_are_not_mixed(server: PrivatePostgreSQL, tmp_path: Path) -> None:
    asked = workload(("one",), one=["SELECT 1"])
    asked["states"][0]["path"] = "/"
    driver = Driver(tmp_path / "d")

    driven = driver.end(driver.start(server.port, asked, targets=target(server)))

    assert driven.status != 0
    assert '"one": has `statements`, and a page\'s `path` or `parameters`; keep one' in driven.said
