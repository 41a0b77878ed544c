"""Locks in a PostgreSQL, and its connections held: who needs them waits as long, and no longer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from pg8000 import dbapi

from tests.disturb.client import Client
from tests.disturb.conftest import LEAD, MS, Disturb, Domain, at, entry, wait_for
from tests.rubis.private_postgresql import PrivatePostgreSQL, private_postgresql

pytestmark = pytest.mark.alone

ALL = "SELECT count(*) FROM items"
ITEMS = {"table": "items"}
MAX_CONNECTIONS = 100
"""PostgreSQL's default."""


@dataclass(frozen=True)
class Database:
    """A PostgreSQL with a table of ten rows."""

    server: PrivatePostgreSQL

    def connect(self) -> Any:
        connection = dbapi.connect("postgres", unix_sock=self.server.socket, database="rubis")
        connection.autocommit = True
        return connection

    def is_open(self) -> bool:
        """Whether it takes one client more."""
        try:
            self.connect().close()
        except dbapi.Error:
            return False
        return True

    @property
    def login(self) -> dict[str, Any]:
        where = {"protocol": "postgresql", "socket": self.server.socket}
        return where | {"user": "postgres", "database": "rubis"}


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with private_postgresql("rubis") as server:
        with closing(server.connect()) as own:
            own.run("CREATE DATABASE rubis")
        server.rows("CREATE TABLE items (id int PRIMARY KEY, n int)")
        server.rows("INSERT INTO items SELECT n, 0 FROM generate_series(1, 10) AS n")
        yield Database(server)


@pytest.mark.parametrize(
    ("keys", "statements"),
    [
        ({}, (ALL, "SELECT 1")),
        ({"rows": 3}, ("UPDATE items SET n = 1 WHERE id = 9", "UPDATE items SET n = 1 WHERE id=1")),
    ],
    ids=["table", "rows"],
)
def test_who_needs_what_is_locked_waits_until_its_release(
    database: Database,
    domain: Domain,
    disturb: Disturb,
    keys: dict[str, Any],
    statements: tuple[str, str],
) -> None:
    client, other = (Client(database, statement) for statement in statements)
    (truth,) = disturb(
        entry(domain, 1, "lock", LEAD, 500 * MS, **ITEMS, **database.login, **keys)
    ).finish()
    time.sleep(0.2)
    client.stop()
    other.stop()
    start, end = truth["start_ns"], truth["end_ns"]
    (waited,) = [(b, e) for b, e in client.times if e - b > 300 * MS]
    assert waited[0] < start + 100 * MS
    assert -5 * MS < waited[1] - end < 100 * MS
    assert other.longest(start, end) < 300 * MS


@pytest.mark.parametrize("waits", [False, True], ids=["held", "waited-for"])
def test_a_lock_does_not_outlive_a_killed_agent(
    database: Database, domain: Domain, disturb: Disturb, waits: bool
) -> None:
    """Nor does its wait for one that somebody else has: it would keep out all who come later."""
    with closing(database.connect()) as holder, closing(holder.cursor()) as cursor:
        if waits:
            cursor.execute("BEGIN")
            cursor.execute(ALL)
        run = disturb(entry(domain, 1, "lock", LEAD, 30_000 * MS, **ITEMS, **database.login))
        at(run.start_ns() + 300 * MS)
        client = Client(database, ALL)
        time.sleep(0.3)
        assert not client.times
        run.process.kill()
        wait_for(lambda: bool(client.times), "the release", 2)
        client.stop()


def test_a_table_that_is_not_there_is_one_sentence_before_anything_starts(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    absent = database.login | {"table": "nothing"}
    with pytest.raises(AssertionError, match=r"disturbance 4 \(lock on s\.1\).*rubis\.nothing"):
        disturb(entry(domain, 4, "lock", LEAD, MS, **absent))


def test_connections_that_never_finish_their_login_turn_the_next_client_away(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    held = database.login | {"resource": "max_connections", "hold": MAX_CONNECTIONS}
    run = disturb(entry(domain, 1, "pool", LEAD, 800 * MS, **held))
    assert database.is_open()
    at(run.start_ns())
    wait_for(lambda: not database.is_open(), "the refusal", 0.8)
    assert "sorry, too many clients already" in database.server.log.read_text()
    run.finish()
    wait_for(database.is_open, "the connections' release", 5)
