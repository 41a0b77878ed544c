"""What the database gets: each statement with its request's id, and as many as published."""

from __future__ import annotations

import re

import pytest

from tests.rubbos.general_log import general_log
from tests.rubbos.private_mariadb import PrivateMariaDB

from .browser import Browser
from .php import Olio
from .test_olio_writes import EVENT, PERSON

pytestmark = [
    pytest.mark.slow,
    # The statements are the same on both; this one logs them in a table.
    pytest.mark.parametrize("database", ["mariadb"], indirect=True),
]
ID = "0123456789abcdef"
OWN = re.compile(r"/\*rid=0123456789abcdef\*/ (.*)", re.DOTALL)


def verbs(statements: list[str]) -> list[str]:
    found = [OWN.fullmatch(statement) for statement in statements]
    assert all(found), statements
    return [" ".join(it[1].split()[:1]) for it in found if it is not None]


def test_lists_ask_for_each_of_their_events(app: Olio, database: PrivateMariaDB) -> None:
    app.cache.flush()
    visitor = Browser(app.port, {"X-Request-Id": ID})
    tag = database.value("SELECT tag FROM socialeventtag ORDER BY refcount DESC LIMIT 1")
    with general_log(database) as log:
        visitor.get("index")
        home = log.of_application()
        visitor.get("index")
        assert log.of_application() == home, "a page that is kept asks for nothing"
    assert verbs(home) == ["SELECT"] * (1 + 1 + 10 + 1)
    with general_log(database) as log:
        visitor.get("taggedEvents", tag=tag, count=120)
        assert verbs(log.of_application()) == ["SELECT"] * (1 + 10 + 10)
    with general_log(database) as log:
        visitor.post("taggedEvents", tag=tag)
        assert verbs(log.of_application()) == ["SELECT"] * (1 + 1 + 10 + 10)


def test_what_is_stored_is_one_transaction_and_the_files_names_another(
    app: Olio, database: PrivateMariaDB
) -> None:
    user = Browser(app.port, {"X-Request-Id": ID})
    user.login(9)
    with general_log(database) as log:
        user.upload("addEventResult", EVENT | {"tags": "tag2 tag1"}, {})
        stored = log.of_application()
    of_tag = ["UPDATE", "SELECT", "INSERT"]
    assert verbs(stored) == [
        *("START", "INSERT", "SELECT", "INSERT", "SELECT"),
        *(of_tag * 2),
        *("INSERT", "COMMIT", "UPDATE"),
    ]
    named = [re.search(r"tag = '(\w+)'", statement) for statement in stored]
    assert [it[1] for it in named if it] == ["tag1", "tag1", "tag2", "tag2"]
    with general_log(database) as log:
        user.upload("addPersonResult", PERSON | {"add_user_name": "bob"}, {})
        assert verbs(log.of_application()) == [
            "START",
            "INSERT",
            "SELECT",
            "INSERT",
            "SELECT",
            "COMMIT",
        ]
