"""What memcached keeps: the home page, for two hours, whatever is written meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.rubis.databases import Server

from .browser import Browser
from .php import Olio

pytestmark = [
    pytest.mark.slow,
    # What is kept does not depend on the database.
    pytest.mark.parametrize("database", ["mariadb"], indirect=True),
]


def left_seconds(app: Olio, name: str) -> int:
    """How long an item is kept yet."""
    (answer,) = app.cache.ask(f"mg {name} t")
    return int(answer.removeprefix("HD t"))


def test_the_home_page_is_made_once_for_everybody(app: Olio) -> None:
    app.cache.flush()
    items, hits = app.cache.counted("total_items"), app.cache.counted("get_hits")
    with ThreadPoolExecutor(8) as crowd:
        pages = list(crowd.map(lambda _: Browser(app.port).get("index").source, range(16)))
    assert len(set(pages)) == 1
    assert app.cache.counted("get_hits") - hits == 15
    # Page and content, and a lock for each; one more where somebody had missed the page and came to
    # the lock when it was free again, and then found the page.
    assert 4 <= app.cache.counted("total_items") - items < 8
    for name in ("Home", "HomeContent"):
        assert 7_190 < left_seconds(app, name) <= 7_200


def test_nothing_that_is_written_makes_it_go_earlier(
    user: Browser, app: Olio, database: Server
) -> None:
    visitor = Browser(app.port)
    before = visitor.get("index")
    event = int(before.links_to("events")[0]["socialEventID"])
    database.rows("UPDATE socialevent SET title = 'Changed' WHERE socialeventid = %s", event)
    assert visitor.get("index").source == before.source
    assert "Changed" not in user.get("index").text
    app.cache.flush()
    assert "Changed" in visitor.get("index").text
    assert "Changed" in user.get("index").text


def test_who_is_logged_in_shares_the_content_only(user: Browser, app: Olio) -> None:
    visitor = Browser(app.port)
    app.cache.flush()
    mine, everybodys = user.get("index"), visitor.get("index")
    assert "Log out" in mine.text
    assert "Log out" not in everybodys.text
    content = everybodys.source.partition("<main>")[2]
    assert content == mine.source.partition("<main>")[2]


def test_other_pages_are_not_kept(app: Olio) -> None:
    visitor = Browser(app.port)
    visitor.get("index")
    gets = app.cache.counted("cmd_get")
    visitor.get("index", page=2)
    visitor.get("events", socialEventID=1)
    visitor.get("taggedEvents", tag="tag1")
    assert app.cache.counted("cmd_get") == gets
