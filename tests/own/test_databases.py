"""Several databases that Tierlab fills: each has its own statements, user, password and name."""

from __future__ import annotations

import contextlib
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tierlab.errors import UserError
from tierlab.servers.base import Settings
from tierlab.servers.command import Command, CommandOptions
from tierlab.servers.content import Content
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.placeholders import from_environment
from tierlab.workloads.own import load
from tierlab.workloads.own.load import StatementLoader
from tierlab.workloads.own.workload import Own
from tierlab.workloads.workload import DataKey

DATA = DataKey(1.0, 1, date(2026, 1, 1))
TOLD = (
    "{odb.user}:{odb.password}@{odb}/{odb.database} {udb.user}:{udb.password}@{udb}/{udb.database}"
)


@pytest.fixture
def content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Content:
    """Of one of each kind, whose statements the other would not read."""
    (tmp_path / "orders.sql").write_text("CREATE TABLE orders (id SERIAL);")
    (tmp_path / "users.sql").write_text("CREATE TABLE `users` (id INT AUTO_INCREMENT KEY);")
    monkeypatch.setenv("USERS_PASSWORD", "known")
    orders = {"server": "postgresql", "sql": str(tmp_path / "orders.sql"), "database": "orders"}
    users = {"server": "mariadb", "sql": str(tmp_path / "users.sql"), "database": "people"}
    users |= {"user": "clerk", "password": "$USERS_PASSWORD"}
    web = {"command": "sh run.sh", "port": 8000}
    environment: Any = SimpleNamespace(work=tmp_path)
    own = Own({"web": web, "odb": orders, "udb": users, "sessions": {"start": "/"}})
    return own.content(environment, DATA, "corrected")


def test_each_is_filled_from_its_own_files(content: Content) -> None:
    loaders = [content.of(name).loader for name in ("odb", "udb")]
    assert all(isinstance(each, StatementLoader) for each in loaders)
    orders, users = (each for each in loaders if isinstance(each, StatementLoader))
    assert [file.name for file in orders.files] == ["orders.sql"]
    assert [file.name for file in users.files] == ["users.sql"]
    assert (users.user, users.database) == ("clerk", "people")
    assert orders.key != users.key


def test_each_lets_in_whom_it_is_said_to(content: Content) -> None:
    orders, users = content.of("odb").credentials, content.of("udb").credentials
    assert (orders.user, orders.database) == ("own", "orders")
    assert (users.user, users.password, users.database) == ("clerk", "known", "people")
    assert orders.password not in ("known", "")


def test_a_dump_with_data_after_copy_is_said_how_to_be_made(tmp_path: Path) -> None:
    """Owners and privileges are roles' that a trial's database does not have."""
    dump = tmp_path / "shop.sql"
    dump.write_text("COPY public.items (id) FROM stdin;\n1\n\\.\n")
    with pytest.raises(UserError, match="pg_dump --inserts --no-owner --no-privileges"):
        StatementLoader([dump], "own", "own").load(object())


class Statements:
    """A connection that keeps what it is to run: MariaDB's has cursors."""

    def __init__(self) -> None:
        self.ran: list[Any] = []
        self.run = self.ran.append


class Cursors(Statements):
    def cursor(self) -> Any:
        return contextlib.nullcontext(SimpleNamespace(execute=self.run))

    def commit(self) -> None:
        """Nothing is left to do."""


def loaded(place: Path, dump: bytes, connection: Statements) -> list[Any]:
    (place / "shop.sql").write_bytes(dump)
    StatementLoader([place / "shop.sql"], "own", "own").load(connection)
    return connection.ran


def test_bytes_that_are_no_text_reach_mariadb_as_they_are(tmp_path: Path) -> None:
    """mysqldump writes what BINARY and BLOB columns have as it is, unless it is told otherwise."""
    first, last = (
        b"INSERT INTO t VALUES (_binary'\xff\x01\x80\r\n\xc3')",
        b"INSERT INTO t VALUES ('\xc3\xa9')",
    )
    assert loaded(tmp_path, b"--\r\n" + first + b";\r\n" + last + b";\n", Cursors()) == [
        b"--\r\n" + first,
        last,
    ]


LITERALS = (
    "SELECT 'a\r\n\\begin\f\u2028';\n",
    "SELECT 'it''s\n\\connect here';\n",
    "SELECT E'it\\'s\n\\restrict me';\n",
    "SELECT $a$ it's\n\\connect $$\n$a$;\n",
    "-- it's\nSELECT \"a\n\\connect b\"; /* '\n\\connect */\n",
)


def test_texts_reach_postgresql_as_they_are(tmp_path: Path) -> None:
    lines = ("\\restrict k3y\n", "\\connect shop\r\n", "\\unrestrict k3y\n")
    dump = "".join(
        text for number, each in enumerate(LITERALS) for text in (lines[number % len(lines)], each)
    )
    kept, reset = loaded(tmp_path, dump.encode(), Statements())
    assert kept == "".join(f"\n{each}" for each in LITERALS)
    assert reset == "RESET ALL"


def test_a_dump_for_postgresql_that_is_not_utf_8_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        loaded(tmp_path, b"SELECT 'Jos\xe9';", Statements())
    assert str(raised.value) == (
        f"{tmp_path}/shop.sql: is not UTF-8 (byte 12); dump it with pg_dump --encoding=UTF8."
    )


def test_what_was_loaded_in_another_way_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.sql").write_text("SELECT 1;")
    loader = StatementLoader([tmp_path / "shop.sql"], "own", "own")
    key = loader.key
    monkeypatch.setattr(load, "FORM", load.FORM + 1)
    assert loader.key != key


def test_a_password_that_sudo_dropped_is_said_to_be_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_SUCH", raising=False)
    with pytest.raises(UserError) as raised:
        from_environment("password", "$NO_SUCH", "system.db")
    assert str(raised.value) == (
        "system.db.password: the variable $NO_SUCH is not set where Tierlab runs; export it first"
        " (sudo drops it: sudo --preserve-env=NO_SUCH)."
    )


def test_who_calls_both_is_told_of_each(content: Content, tmp_path: Path) -> None:
    tiers = {
        "odb": Endpoint("127.0.2.1", 5432, "postgresql"),
        "udb": Endpoint("127.0.3.1", 3306, "mysql"),
    }
    site: Any = SimpleNamespace(
        folder=tmp_path,
        endpoint=Endpoint("127.0.1.1", 8000, "http"),
        tiers=tiers,
        subject="web.1",
    )
    options = CommandOptions.model_construct(command="sh run.sh", environment={"DSN": TOLD})
    told = Command(site, Settings({}, options), content.of("web")).variables()["DSN"]
    drawn = content.of("odb").credentials.password
    assert told == f"own:{drawn}@127.0.2.1:5432/orders clerk:known@127.0.3.1:3306/people"
