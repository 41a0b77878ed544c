"""What the databases get: every statement with its request's id, on kept connections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.rubbos.general_log import general_log
from tests.rubbos.private_mariadb import PrivateMariaDB

from .databases import Server
from .php import WORKERS, Rubis, rubis

pytestmark = pytest.mark.slow
LOGIN = {"nickname": "user7", "password": "password7"}
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]+): (.*)")
OWN = re.compile(r"/\*rid=[0-9a-f]+\*/ (\w+)")


class Statements:
    """The application's statements while they are logged, in their order."""

    def __init__(self) -> None:
        self.seen: list[str] = []


@contextmanager
def logged(database: Server) -> Iterator[Statements]:
    statements = Statements()
    if isinstance(database, PrivateMariaDB):
        with general_log(database) as log:
            yield statements
            statements.seen = log.of_application()
        return
    database.rows("ALTER ROLE rubis SET log_statement = 'all'")
    begin = database.log.stat().st_size
    try:
        yield statements
    finally:
        database.rows("ALTER ROLE rubis RESET log_statement")
    said = database.log.read_bytes()[begin:].decode()
    statements.seen = STATEMENT.findall("".join(re.split(r"^rubis ", said, flags=re.MULTILINE)))


@pytest.fixture(scope="module")
def fresh(database: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rubis]:
    """The application with a connection for each request."""
    folder = tmp_path_factory.mktemp("fresh")
    with rubis(folder, database, RUBIS_PERSISTENT="0") as started:
        yield started


def verbs(statements: Statements) -> list[str]:
    return [found[1] for statement in statements.seen if (found := OWN.match(statement))]


def test_every_statement_carries_its_requests_id(fresh: Rubis, database: Server) -> None:
    item = database.value("SELECT MIN(id) FROM items WHERE quantity > 4")
    bid = {"itemId": item, "userId": 7, "minBid": 1, "bid": 2, "qty": 1, "maxQty": 1}
    with logged(database) as statements:
        fresh.get("ViewItem", request_id="0123456789abcdefABCDEF", itemId=item)
        fresh.post("StoreBid", request_id="beef", **bid)
    ids = [re.findall(r"rid=(\w*)", statement) for statement in statements.seen]
    assert ids == [["0123456789abcdefABCDEF"]] * 5 + [["beef"]] * 5


@pytest.mark.parametrize("sent", ["", "a b", "*/ DROP TABLE users /*", "0" * 33, "zz"])
def test_what_is_no_id_is_ignored(fresh: Rubis, database: Server, sent: str) -> None:
    with logged(database) as statements:
        assert fresh.get("BrowseRegions", request_id=sent).status == 200
    assert statements.seen == ["SELECT id, name FROM regions ORDER BY id"]


def test_writes_are_transactions_with_the_item_locked(fresh: Rubis, database: Server) -> None:
    item = database.value("SELECT MAX(id) FROM items WHERE quantity > 4")
    seller = database.value("SELECT seller FROM items WHERE id = %s", item)
    asked = {"itemId": item, "userId": 7, "qty": 1, "maxQty": 1}
    comment = {"to": seller, "from": 7, "itemId": item, "rating": 0, "comment": "c"}
    pages = {
        "StoreBid": asked | {"minBid": 1, "bid": 2},
        "StoreBuyNow": asked,
        "StoreComment": comment,
    }
    made = {
        "StoreBid": ["START", "SELECT", "INSERT", "UPDATE", "COMMIT"],
        "StoreBuyNow": ["START", "SELECT", "UPDATE", "INSERT", "COMMIT"],
        "StoreComment": ["START", "SELECT", "UPDATE", "INSERT", "COMMIT"],
    }
    for page, parameters in pages.items():
        with logged(database) as statements:
            assert not fresh.post(page, request_id="1", **parameters).says_sorry()
        assert verbs(statements) == made[page], page
        assert "FOR UPDATE" in statements.seen[1]
    with logged(database) as statements:
        assert fresh.post("StoreBuyNow", request_id="1", **(asked | {"itemId": 1})).says_sorry()
    assert verbs(statements) == ["START", "SELECT", "ROLLBACK"]


def test_the_published_pages_ask_for_each_author(
    fresh: Rubis, database: Server, tmp_path: Path
) -> None:
    item, bids = database.rows(
        "SELECT item_id, COUNT(*) FROM bids GROUP BY item_id ORDER BY COUNT(*) DESC LIMIT 1"
    )[0]
    counts = []
    with rubis(tmp_path, database, RUBIS_PERSISTENT="0", RUBIS_FIDELITY="published") as published:
        for form in (fresh, published):
            with logged(database) as statements:
                form.get("ViewBidHistory", request_id="1", itemId=item)
            counts.append(len(verbs(statements)))
    assert counts == [2, 2 + bids]


def test_a_process_keeps_its_connection_unless_told_otherwise(
    app: Rubis, fresh: Rubis, database: Server
) -> None:
    if isinstance(database, PrivateMariaDB):
        count = (
            "SELECT variable_value FROM information_schema.global_status"
            " WHERE variable_name = 'CONNECTIONS'"
        )
    else:
        count = "SELECT sessions FROM pg_stat_database WHERE datname = 'rubis'"
    opened = []
    for form in (app, fresh):
        before = int(database.value(count))
        for _ in range(20):
            form.get("BrowseRegions")
        opened.append(int(database.value(count)) - before)
    # The workers and their parent connect once at most; what reads the count connects, too.
    assert opened[0] <= WORKERS + 1 + 1
    assert opened[1] >= 20
