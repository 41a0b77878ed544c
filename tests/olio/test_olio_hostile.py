"""Requests that no browser of an honest user sends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rubis.databases import Server

from .browser import Browser
from .php import Olio, olio
from .test_olio_writes import EVENT, PERSON

pytestmark = [
    pytest.mark.slow,
    # What is refused does not depend on the database.
    pytest.mark.parametrize("database", ["mariadb"], indirect=True),
]


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        ("events", {}),
        ("events", {"socialEventID": "0"}),
        ("events", {"socialEventID": "1 OR 1=1"}),
        ("events", {"socialEventID[]": "1"}),
        ("users", {"username": "x" * 26}),
        ("users", {"username": b"\xff"}),
        ("taggedEvents", {"tag": " "}),
        ("taggedEvents", {"tag": "tag1", "page": "-1"}),
        ("index", {"year": "2026", "month": "2", "day": "30"}),
        ("index", {"page": "0"}),
        ("login", {"user_name": "user7"}),
        ("addAttendee", {}),
    ],
)
def test_parameters_that_cannot_be_are_refused(page, parameters, browser: Browser) -> None:
    reply = browser.get(page, **parameters)
    assert reply.status == 400
    assert "Sorry, the parameter" in reply.text


@pytest.mark.parametrize(
    "name",
    [
        *("", "../../../etc/passwd", "p1.jpg/../../seed/event.pdf", "seed/person.jpg", "p1.php"),
        *("p1t.pdf", "p99999999999.jpg", "x1.jpg", "p1.jpg\0", "e1.png"),
    ],
)
def test_no_file_but_the_stores_own_is_served(name: str, browser: Browser) -> None:
    assert browser.get("fileService", file=name).status == 404


def test_what_is_no_picture_leaves_no_file(browser: Browser, app: Olio, database: Server) -> None:
    for named, content in (
        ("me.jpg", b"GIF89a"),
        ("me.jpg", b""),
        ("me.php", b"<?php"),
        ("me", b""),
    ):
        reply = browser.upload(
            "addPersonResult",
            PERSON | {"add_user_name": f"eve{len(content)}{named[3:]}"},
            {"user_image": (named, content)},
        )
        assert "Sorry" in reply.text
    shown = [
        row[0] for row in database.rows("SELECT imageurl FROM person WHERE username LIKE 'eve%%'")
    ]
    assert set(shown) <= {""}
    assert not list((app.folder / "files").rglob("*.php"))
    assert not list((app.folder / "files").rglob("*.part"))


def test_two_passwords_that_differ_and_tags_that_are_none(browser: Browser, user: Browser) -> None:
    person = PERSON | {"add_user_name": "mallory", "passwordx": "other"}
    assert "the two passwords differ" in browser.upload("addPersonResult", person, {}).text
    for tags in (" ", ",", "x" * 31, " ".join(f"t{n}" for n in range(21))):
        reply = user.upload("addEventResult", EVENT | {"tags": tags}, {})
        assert reply.status == 400, tags


def test_a_geocoder_that_is_down_stores_nothing_and_a_cache_costs_no_page(
    database: Server, tmp_path: Path
) -> None:
    nobody = "127.0.0.1:1"
    before = database.value("SELECT COUNT(*) FROM address")
    with olio(tmp_path, database, OLIO_HTTP=nobody, OLIO_MEMCACHED=nobody) as without:
        visitor = Browser(without.port)
        reply = visitor.upload("addPersonResult", PERSON | {"add_user_name": "zoe"}, {})
        assert (reply.status, "ERROR" in reply.text) == (500, True)
        assert f"the geocoder at {nobody} does not answer" in without.log
        assert len(visitor.get("index").pictures) == 10
    assert database.value("SELECT COUNT(*) FROM address") == before
