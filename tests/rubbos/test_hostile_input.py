"""Whatever comes in: no stack trace, no markup of others, no SQL of others."""

from __future__ import annotations

import itertools

import pytest

from tests.web import Page
from tierlab.workloads.rubbos.shape import STATIC_PATHS

from .application import Running
from .private_mariadb import PrivateMariaDB

pytestmark = pytest.mark.slow

SCRIPT = "<script>alert('x')</script>\"&"
INJECTIONS = ("' OR '1'='1", "\\' OR 1=1 -- ", "1; DROP TABLE users", "*/ DROP TABLE users /*", '"')
PAGES: dict[str, dict[str, object]] = {
    "BrowseStoriesByCategory": {"category": 1, "categoryName": "x", "page": 0, "nbOfStories": 5},
    "OlderStories": {"day": 1, "month": 2, "year": 2020, "page": 0, "nbOfStories": 5},
    "ViewStory": {"storyId": 1},
    "PostComment": {"comment_table": "comments", "storyId": 1, "parent": 0},
    "StoreComment": {
        **{"comment_table": "comments", "storyId": 1, "parent": 0, "subject": "s", "body": "b"},
        **{"nickname": "n", "password": "p"},
    },
    "ViewComment": {
        **{"comment_table": "comments", "storyId": 1, "commentId": 0, "filter": 0, "display": 0},
        "page": 0,
    },
    "ModerateComment": {"comment_table": "comments", "commentId": 1},
    "StoreModeratorLog": {
        **{"comment_table": "comments", "commentId": 1, "rating": 0},
        **{"nickname": "n", "password": "p"},
    },
    "StoreStory": {"title": "t", "body": "b", "category": 1, "nickname": "n", "password": "p"},
    "Search": {"search": "x", "type": 0, "page": 0, "nbOfStories": 5},
    "Author": {"nickname": "n", "password": "p"},
    "RegisterUser": {
        **{"firstname": "f", "lastname": "l", "nickname": "n", "email": "e", "password": "p"},
    },
    "AcceptStory": {"storyId": 1},
    "RejectStory": {"storyId": 1},
}
OPTIONAL = {"categoryName", "page", "nbOfStories", "filter", "display"}
TEXTS = {"categoryName", "subject", "body", "title", "search", "firstname", "lastname", "email"}
TEXTS |= {"nickname", "password"}
GARBAGE = ("", "x", "-7", "99999999999", "1 OR 1=1", "0x10", "%00", "é", "1.5", "../../etc/passwd")
CASES = [(page, name) for page, parameters in PAGES.items() for name in parameters]


def assert_no_innards(page: Page) -> None:
    for word in ("Exception", "at org.", "java.", "SQL", "Tomcat", "stack"):
        assert word not in page.source


@pytest.mark.parametrize(("page", "name"), CASES)
def test_a_missing_parameter_is_a_bad_request_or_sorry(app: Running, page: str, name: str) -> None:
    rest = {key: value for key, value in PAGES[page].items() if key != name}
    reply = app.get(page, **rest)
    assert_no_innards(reply)
    if name in OPTIONAL or (name in {"nickname", "password"} and page.startswith("Store")):
        assert reply.status in {200, 400}
    else:
        assert reply.status == 400
        assert f"Sorry, the parameter {name} must be" in reply.text


@pytest.mark.parametrize(("page", "name"), [case for case in CASES if case[1] not in TEXTS])
def test_garbage_in_a_number_is_a_bad_request(app: Running, page: str, name: str) -> None:
    for garbage in GARBAGE:
        reply = app.get(page, **(PAGES[page] | {name: garbage}))
        assert_no_innards(reply)
        assert reply.status == 400, garbage
        assert f"Sorry, the parameter {name} must be" in reply.text


@pytest.mark.parametrize(("page", "name"), [case for case in CASES if case[1] in TEXTS])
def test_too_long_a_text_is_a_bad_request(app: Running, page: str, name: str) -> None:
    reply = app.post(page, **(PAGES[page] | {name: "x" * 16_001}))
    assert reply.status == 400
    assert f"Sorry, the parameter {name} must be" in reply.text


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        ("ViewStory", {"storyId": 2**31 - 1}),
        ("ViewComment", {"comment_table": "comments", "storyId": 1, "commentId": 10**9}),
        ("ModerateComment", {"comment_table": "old_comments", "commentId": 10**9}),
        ("BrowseStoriesByCategory", {"category": 10**9}),
        ("OlderStories", {"day": 1, "month": 1, "year": 1}),
        ("AcceptStory", {"storyId": 10**9}),
        ("RejectStory", {"storyId": 10**9}),
        ("Search", {"search": "no such words", "type": 0}),
        ("Search", {"search": "no such words", "type": 1}),
        ("Search", {"search": "no such words", "type": 2}),
    ],
)
def test_what_is_not_there_is_sorry(app: Running, page: str, parameters: dict[str, object]) -> None:
    reply = app.get(page, **parameters)
    assert reply.status == 200
    assert reply.says_sorry()


@pytest.mark.parametrize("injection", INJECTIONS)
def test_sql_in_a_text_stays_a_text(app: Running, database: PrivateMariaDB, injection: str) -> None:
    users = database.value("SELECT COUNT(*) FROM users")
    nickname = injection[:20]
    assert app.post("Author", nickname=injection[:20], password=injection[:20]).says_sorry()
    for kind in range(3):
        assert app.get("Search", search=injection, type=kind).says_sorry()
    app.post("StoreStory", title=injection, body=injection, category=1)
    stored = database.rows("SELECT title, body FROM submissions ORDER BY id DESC LIMIT 1")[0]
    assert stored == (injection, injection)
    app.post(
        "RegisterUser",
        **{"firstname": nickname, "lastname": nickname, "nickname": nickname},
        **{"email": nickname, "password": nickname},
    )
    assert database.value("SELECT firstname FROM users WHERE nickname = %s", nickname) == nickname
    assert database.value("SELECT COUNT(*) FROM users") == users + 1


def test_sql_in_a_table_name_or_an_id_is_refused(app: Running, database: PrivateMariaDB) -> None:
    for table in ("users", "comments; DROP TABLE users", "comments c JOIN users u"):
        reply = app.get("ModerateComment", comment_table=table, commentId=1)
        assert reply.status == 400
    assert database.value("SELECT COUNT(*) FROM users") > 0


def test_a_wildcard_in_a_search_is_no_wildcard(app: Running) -> None:
    assert app.get("Search", search="%", type=0).says_sorry()
    assert app.get("Search", search="_", type=1).says_sorry()


def test_texts_of_users_come_back_escaped(app: Running, database: PrivateMariaDB) -> None:
    """The parser of `Page` fails on a script element, wherever it stands."""
    nickname = "<script>x</script>"
    app.post(
        "RegisterUser",
        **{"firstname": SCRIPT[:20], "lastname": SCRIPT[:20], "nickname": nickname},
        **{"email": SCRIPT, "password": "p"},
    )
    login = {"nickname": nickname, "password": "p"}
    app.post("StoreStory", title=SCRIPT, body=SCRIPT, category=1, **login)
    review = app.get("ReviewStories")
    assert SCRIPT in review.text
    accepted = app.post("AcceptStory", storyId=review.links_to("AcceptStory")[0]["storyId"])
    assert SCRIPT in accepted.text
    story = database.value("SELECT MAX(id) FROM stories")
    where = {"comment_table": "comments", "storyId": story, "parent": 0}
    assert SCRIPT in app.post("StoreComment", subject=SCRIPT, body=SCRIPT, **where, **login).text
    comment = database.value("SELECT MAX(id) FROM comments")
    of_story = {"comment_table": "comments", "storyId": story, "commentId": comment}
    for page in (
        app.get("StoriesOfTheDay"),
        app.get("ViewStory", storyId=story),
        app.get("ViewComment", display=2, **of_story),
        app.get("ModerateComment", comment_table="comments", commentId=comment),
        app.get("Search", search="<script>", type=0),
        app.get("Search", search="<script>", type=1),
        app.get("Search", search="<script>", type=2),
        app.get("BrowseStoriesByCategory", category=1, categoryName=SCRIPT),
    ):
        assert page.status == 200
        assert nickname in page.text
        assert SCRIPT in page.text


def test_letters_of_every_script_survive(app: Running, database: PrivateMariaDB) -> None:
    text = "Grüße, 世界 𝄞 ы"
    assert text in app.post("StoreStory", title=text, body=text, category=1).text
    assert database.value("SELECT body FROM submissions ORDER BY id DESC LIMIT 1") == text
    assert text in app.get("ReviewStories").text


def test_links_of_pages_lead_to_pages(app: Running) -> None:
    """Three links deep from the home page, up to a dozen of each kind on a page.

    A story of today may have no comments yet, so a few of each kind do not lead everywhere.
    """
    seen: set[str] = set()
    ring = ["/rubbos/servlet/StoriesOfTheDay", *STATIC_PATHS[:3]]
    for _ in range(3):
        found: list[str] = []
        for address in ring:
            page = app.open(address)
            assert page.status == 200, address
            assert page.images == ["/rubbos/images/logo.png"], address
            assert "ERROR" not in page.text
            by_kind = itertools.groupby(sorted(page.links), lambda link: link.partition("?")[0])
            found += [link for _, links in by_kind for link in itertools.islice(links, 12)]
            found += [form.address for form in page.forms if form.is_filled_in]
        seen |= set(ring)
        ring = [link for link in dict.fromkeys(found) if link not in seen]
    kinds = {address.partition("?")[0].rpartition("/")[2] for address in seen}
    assert kinds >= {"ViewStory", "ViewComment", "PostComment", "ModerateComment", "OlderStories"}


def test_unknown_pages_say_nothing_of_the_server(app: Running) -> None:
    for path in ("/rubbos/servlet/NoSuchPage", "/rubbos/WEB-INF/web.xml", "/", "/rubbos/%2e%2e/x"):
        status, reply = app.fetch(path)
        assert status in {400, 404}
        assert b"Tomcat" not in reply
        assert b"Exception" not in reply
