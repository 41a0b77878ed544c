"""The number of statements of every page, measured; docs/reference/rubbos.md has the same table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.web import Page

from .application import PROJECT, Running, running
from .general_log import general_log
from .private_mariadb import PrivateMariaDB, free_port

pytestmark = pytest.mark.slow

Request = Callable[[Running, PrivateMariaDB], Page]
CAPITAL = re.compile(r"^(?:/\*rid=[0-9a-f]+\*/ )?(\w+)")


def a_day(app: Running, database: PrivateMariaDB, table: str) -> Page:
    day = database.value(f"SELECT DATE(MIN(date)) FROM {table}")
    return app.get("OlderStories", day=day.day, month=day.month, year=day.year)


def a_search(app: Running, database: PrivateMariaDB, kind: int, column: str, table: str) -> Page:
    text = database.value(f"SELECT {column} FROM {table} ORDER BY id LIMIT 1")
    return app.get("Search", search=text, type=kind)


def a_comment(app: Running, database: PrivateMariaDB, *, reply: bool) -> Page:
    story, comment = database.rows("SELECT story_id, id FROM comments ORDER BY id LIMIT 1")[0]
    return app.post(
        "StoreComment",
        **{"nickname": "user1", "password": "password1", "subject": "s", "body": "b"},
        **{"comment_table": "comments", "storyId": story, "parent": comment if reply else 0},
    )


def a_rating(app: Running, database: PrivateMariaDB, rating: int) -> Page:
    comment = database.value("SELECT id FROM comments WHERE rating = 1 LIMIT 1")
    return app.post(
        "StoreModeratorLog",
        **{"nickname": "author1", "password": "password1", "rating": rating},
        **{"comment_table": "comments", "commentId": comment},
    )


def a_story(app: Running, who: str) -> Page:
    login = {"nickname": f"{who}1", "password": "password1"}
    return app.post("StoreStory", title="t", body="b", category=1, **login)


REQUESTS: dict[str, Request] = {
    "StoriesOfTheDay": lambda app, _: app.get("StoriesOfTheDay"),
    "RegisterUser": lambda app, _: app.post(
        "RegisterUser",
        **{"firstname": "f", "lastname": "l", "nickname": "new", "email": "e", "password": "p"},
    ),
    "RegisterUser, name taken": lambda app, _: app.post(
        "RegisterUser",
        **{"firstname": "f", "lastname": "l", "nickname": "user1", "email": "e", "password": "p"},
    ),
    "BrowseCategories": lambda app, _: app.get("BrowseCategories"),
    "BrowseStoriesByCategory": lambda app, _: app.get("BrowseStoriesByCategory", category=1),
    "OlderStories, form": lambda app, _: app.get("OlderStories"),
    "OlderStories, new": lambda app, database: a_day(app, database, "stories"),
    "OlderStories, old": lambda app, database: a_day(app, database, "old_stories"),
    "PostComment": lambda app, _: app.get(
        "PostComment", comment_table="comments", storyId=1, parent=0
    ),
    "StoreComment": lambda app, database: a_comment(app, database, reply=False),
    "StoreComment, reply": lambda app, database: a_comment(app, database, reply=True),
    "ModerateComment": lambda app, _: app.get(
        "ModerateComment", comment_table="old_comments", commentId=1
    ),
    "StoreModeratorLog": lambda app, database: a_rating(app, database, 1),
    "StoreModeratorLog, rating 0": lambda app, database: a_rating(app, database, 0),
    "SubmitStory": lambda app, _: app.get("SubmitStory"),
    "StoreStory": lambda app, _: a_story(app, "user"),
    "Search, form": lambda app, _: app.get("Search"),
    "SearchInStories, new": lambda app, db: a_search(app, db, 0, "title", "stories"),
    "SearchInComments, new": lambda app, db: a_search(app, db, 1, "subject", "comments"),
    "SearchInUsers, new": lambda app, _: app.get("Search", search="user1", type=2),
    "Search, nothing": lambda app, _: app.get("Search", search="no such text", type=0),
    "Author": lambda app, _: app.get("Author", nickname="author1", password="password1"),
    "ReviewStories": lambda app, _: app.get("ReviewStories"),
    "AcceptStory": lambda app, database: app.post(
        "AcceptStory", storyId=database.value("SELECT MIN(id) FROM submissions")
    ),
    "RejectStory": lambda app, database: app.post(
        "RejectStory", storyId=database.value("SELECT MIN(id) FROM submissions")
    ),
}


def documented() -> dict[str, tuple[int, int]]:
    """Reads and other statements by page, from the table in the reference."""
    text = (Path(PROJECT) / "docs" / "reference" / "rubbos.md").read_text()
    table = text.partition("## Statements of each page")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \|", table, re.MULTILINE)
    return {page: (int(reads), int(others)) for page, reads, others in rows}


def measured(database: PrivateMariaDB, request: Callable[[], Page]) -> tuple[int, int]:
    with general_log(database) as log:
        assert request().status == 200
        verbs = [CAPITAL.match(text) for text in log.of_application()]
    reads = [verb is not None and verb[1] == "SELECT" for verb in verbs]
    return sum(reads), len(reads) - sum(reads)


def test_the_reference_has_every_page() -> None:
    assert documented().keys() == REQUESTS.keys()


@pytest.mark.parametrize("page", REQUESTS)
def test_a_page_makes_as_many_statements_as_documented(
    app: Running, database: PrivateMariaDB, page: str
) -> None:
    made = measured(database, lambda: REQUESTS[page](app, database))
    assert made == documented()[page]


@pytest.fixture(scope="module")
def published(
    database: PrivateMariaDB, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    settings = {"jdbc.url": database.jdbc_url, "pool.size": 1, "fidelity": "published"}
    with running(tmp_path_factory.mktemp("published"), free_port(), settings) as application:
        yield application


def a_busy_story(database: PrivateMariaDB) -> int:
    """A new story with replies of replies and more top-level comments than a page has."""
    story: int = database.value("SELECT MIN(id) FROM stories")
    database.rows(
        "INSERT INTO comments (writer, story_id, parent, childs, rating, date, subject, comment)"
        " SELECT 1, %s, 0, 0, 0, UTC_TIMESTAMP(), 'more', 'text' FROM users LIMIT 30",
        story,
    )
    return story


def replied(database: PrivateMariaDB, story: int, *, depth: int, page: int) -> int:
    """Shown comments that have replies: `depth` levels below the first `page` top-level ones."""
    rows = database.rows(
        "SELECT id, parent, childs FROM comments WHERE story_id = %s AND rating >= 0 ORDER BY id",
        story,
    )
    level = [row for row in rows if row[1] == 0][:page]
    count = 0
    for _ in range(depth):
        count += sum(row[2] > 0 for row in level)
        level = [row for row in rows if row[1] in {above[0] for above in level}]
    return count


def test_a_story_costs_a_statement_for_each_comment_with_replies(
    app: Running, database: PrivateMariaDB
) -> None:
    story = a_busy_story(database)
    expected = replied(database, story, depth=50, page=25)
    assert expected > replied(database, story, depth=1, page=25) > 0
    assert measured(database, lambda: app.get("ViewStory", storyId=story)) == (3 + expected, 0)
    where = {"comment_table": "comments", "storyId": story}
    for display, threads in ((0, 0), (2, expected)):
        reads = measured(
            database,
            lambda display=display: app.get("ViewComment", commentId=0, display=display, **where),
        )
        assert reads == (2 + threads, 0)


def test_a_published_story_looks_up_every_author(
    published: Running, database: PrivateMariaDB
) -> None:
    story = a_busy_story(database)
    top = "FROM comments WHERE story_id = %s AND parent = 0 AND rating >= 0"
    comments = database.value(f"SELECT COUNT(*) {top}", story)
    threads = replied(database, story, depth=1, page=10**6)
    replies = database.value(
        f"SELECT COUNT(*) FROM comments WHERE rating >= 0 AND parent IN (SELECT id {top})", story
    )
    assert comments > 25
    expected = 3 + comments + threads + replies
    made = measured(database, lambda: published.get("ViewStory", storyId=story))
    assert made == (expected, 0)


def test_a_published_comment_page_lists_the_whole_story(
    published: Running, database: PrivateMariaDB
) -> None:
    story = a_busy_story(database)
    chosen = database.value("SELECT MAX(id) FROM comments WHERE story_id = %s", story)
    page = published.get(
        "ViewComment", comment_table="comments", storyId=story, commentId=chosen, filter=-1
    )
    top = database.rows("SELECT id FROM comments WHERE story_id = %s AND parent = 0", story)
    moderated = [int(link["commentId"]) for link in page.links_to("ModerateComment")]
    assert sorted(moderated) == sorted(row[0] for row in top)
    assert len(moderated) > 50
    assert not any("page" in link for link in page.links_to("ViewComment"))


def test_corrected_pages_are_bounded_and_lead_on(app: Running, database: PrivateMariaDB) -> None:
    story = a_busy_story(database)
    top = database.rows(
        "SELECT id FROM comments WHERE story_id = %s AND parent = 0 AND rating >= 0 ORDER BY id",
        story,
    )
    page = app.get("ViewStory", storyId=story)
    seen: list[int] = []
    while True:
        listed = [int(link["commentId"]) for link in page.links_to("ModerateComment")]
        assert len(listed) <= 25
        seen += listed
        ahead = [link for link in page.links_to("ViewComment") if "page" in link][-1:]
        if not ahead or int(ahead[0]["page"]) * 25 != len(seen):
            break
        page = app.get("ViewComment", **(ahead[0] | {"display": "0"}))
    assert seen == [row[0] for row in top]


def test_nested_replies_are_bounded(app: Running, database: PrivateMariaDB) -> None:
    story = a_busy_story(database)
    parent = database.value(
        "SELECT MIN(id) FROM comments WHERE story_id = %s AND parent = 0 AND rating >= 0", story
    )
    database.rows(
        "INSERT INTO comments (writer, story_id, parent, childs, rating, date, subject, comment)"
        " SELECT 1, %s, %s, 0, 0, UTC_TIMESTAMP(), 'a reply', 'text' FROM users LIMIT 150",
        *(story, parent),
    )
    database.rows("UPDATE comments SET childs = childs + 150 WHERE id = %s", parent)
    page = app.get("ViewStory", storyId=story)
    shown = {int(link["commentId"]) for link in page.links_to("ViewComment")} - {0}
    assert len(shown) == 25 + 100
