"""Every page that writes changes what it must, and nothing else."""

from __future__ import annotations

import pytest

from tests.web import Page

from .application import Running
from .private_mariadb import PrivateMariaDB

pytestmark = pytest.mark.slow

TABLES = (
    *("users", "stories", "old_stories", "submissions", "comments", "old_comments"),
    "moderator_log",
)


def sizes(database: PrivateMariaDB) -> dict[str, int]:
    return {table: database.value(f"SELECT COUNT(*) FROM {table}") for table in TABLES}


def grown(before: dict[str, int], **by: int) -> dict[str, int]:
    return {table: count + by.get(table, 0) for table, count in before.items()}


def register(app: Running, nickname: str) -> Page:
    return app.post(
        "RegisterUser",
        firstname="Ada",
        lastname="L",
        nickname=nickname,
        email="ada@rubbos.example",
        password="pw",
    )


def test_registration_adds_a_user_once(app: Running, database: PrivateMariaDB) -> None:
    before = sizes(database)
    page = register(app, "ada")
    row = database.rows(
        "SELECT id, firstname, lastname, email, password, rating, access,"
        " ABS(TIMESTAMPDIFF(SECOND, creation_date, UTC_TIMESTAMP())) < 60"
        " FROM users WHERE nickname = 'ada'"
    )[0]
    assert row[1:] == ("Ada", "L", "ada@rubbos.example", "pw", 0, 0, 1)
    assert f"User id: {row[0]}" in page.text
    assert sizes(database) == grown(before, users=1)
    assert register(app, "ada").says_sorry()
    assert sizes(database) == grown(before, users=1)


@pytest.mark.parametrize("age", ["", "old_"])
def test_a_comment_is_stored_and_its_parent_counts_it(
    app: Running, database: PrivateMariaDB, age: str
) -> None:
    table = f"{age}comments"
    story, parent, childs = database.rows(
        f"SELECT story_id, id, childs FROM {table} ORDER BY id LIMIT 1"
    )[0]
    before = sizes(database)
    page = app.post(
        "StoreComment",
        nickname="user3",
        password="password3",
        storyId=story,
        parent=parent,
        subject="a reply",
        body="of some words",
        comment_table=table,
    )
    assert page.status == 200
    assert "a reply" in page.text
    newest = database.rows(
        "SELECT u.nickname, story_id, parent, childs, c.rating, subject, comment"
        f" FROM {table} c JOIN users u ON u.id = writer ORDER BY c.id DESC LIMIT 1"
    )[0]
    assert newest == ("user3", story, parent, 0, 0, "a reply", "of some words")
    assert database.value(f"SELECT childs FROM {table} WHERE id = %s", parent) == childs + 1
    assert sizes(database) == grown(before, **{table: 1})


def test_a_comment_without_a_login_is_the_anonymous_users(
    app: Running, database: PrivateMariaDB
) -> None:
    story = database.value("SELECT MAX(id) FROM stories")
    for login in ({}, {"nickname": "user3", "password": "wrong"}):
        app.post(
            "StoreComment",
            storyId=story,
            parent=0,
            subject="s",
            body="b",
            comment_table="comments",
            **login,
        )
        assert database.value("SELECT writer FROM comments ORDER BY id DESC LIMIT 1") == 0


def test_a_comment_needs_its_story_and_its_parent(app: Running, database: PrivateMariaDB) -> None:
    story, other = (row[0] for row in database.rows("SELECT id FROM stories ORDER BY id LIMIT 2"))
    foreign = database.value("SELECT MIN(id) FROM comments WHERE story_id = %s", other)
    old = database.value("SELECT MAX(id) FROM old_stories")
    before = sizes(database)
    childs = database.value("SELECT SUM(childs) FROM comments")
    for story_id, parent in ((10**9, 0), (old, 0), (story, foreign), (story, 10**9)):
        page = app.post(
            "StoreComment",
            storyId=story_id,
            parent=parent,
            subject="s",
            body="b",
            comment_table="comments",
        )
        assert page.status == 200
        assert page.says_sorry()
    assert sizes(database) == before
    assert database.value("SELECT SUM(childs) FROM comments") == childs


def moderate(app: Running, comment: int, rating: int, *, who: str = "author1") -> Page:
    number = who.removeprefix("author").removeprefix("user")
    return app.post(
        "StoreModeratorLog",
        nickname=who,
        password=f"password{number}",
        comment_table="comments",
        commentId=comment,
        rating=rating,
    )


def test_moderation_stays_within_its_bounds(app: Running, database: PrivateMariaDB) -> None:
    comment, writer = database.rows(
        "SELECT id, writer FROM comments WHERE rating = 0 AND writer > 0 ORDER BY id LIMIT 1"
    )[0]

    def ratings() -> tuple[int, int]:
        return (
            database.value("SELECT rating FROM comments WHERE id = %s", comment),
            database.value("SELECT rating FROM users WHERE id = %s", writer),
        )

    comment_rating, user_rating = ratings()
    before = sizes(database)
    steps = [1] * 7 + [0] + [-1] * 8
    for step in steps:
        page = moderate(app, comment, step)
        if -1 <= comment_rating + step <= 5:
            comment_rating, user_rating = comment_rating + step, user_rating + step
        assert ratings() == (comment_rating, user_rating)
        assert f"rated {comment_rating} now, its writer {user_rating}." in page.text
    assert comment_rating == -1
    assert sizes(database) == grown(before, moderator_log=len(steps))
    logged = database.rows(
        "SELECT l.rating, u.nickname FROM moderator_log l JOIN users u ON u.id = moderator_id"
        " WHERE comment_id = %s ORDER BY l.id",
        comment,
    )
    assert logged == [(step, "author1") for step in steps]


def test_only_authors_moderate(app: Running, database: PrivateMariaDB) -> None:
    comment = database.value("SELECT MIN(id) FROM comments")
    before = sizes(database)
    assert moderate(app, comment, 1, who="user1").says_sorry()
    assert moderate(app, 10**9, 1).says_sorry()
    assert moderate(app, comment, 2).status == 400
    assert sizes(database) == before


def store_story(app: Running, title: str, **login: str) -> Page:
    return app.post("StoreStory", title=title, body="words", category=7, **login)


def test_stories_wait_for_review_unless_an_author_wrote_them(
    app: Running, database: PrivateMariaDB
) -> None:
    before = sizes(database)
    store_story(app, "by an author", nickname="author2", password="password2")
    assert sizes(database) == grown(before, stories=1)
    identity, category = database.rows(
        "SELECT id, category FROM stories WHERE title = 'by an author'"
    )[0]
    assert category == 7
    assert identity > database.value("SELECT MAX(id) FROM old_stories")
    store_story(app, "by a user", nickname="user1", password="password1")
    store_story(app, "by nobody")
    assert sizes(database) == grown(before, stories=1, submissions=2)
    assert app.get("StoriesOfTheDay").links_to("ViewStory")[0] == {"storyId": str(identity)}
    unknown = app.post("StoreStory", title="t", body="b", category=85)
    assert unknown.says_sorry()


def test_a_submission_is_accepted_once(app: Running, database: PrivateMariaDB) -> None:
    identity, *columns = database.rows(
        "SELECT id, title, body, date, writer, category FROM submissions LIMIT 1"
    )[0]
    before = sizes(database)
    page = app.post("AcceptStory", storyId=identity)
    assert columns[0] in page.text
    assert sizes(database) == grown(before, submissions=-1, stories=1)
    newest = "SELECT title, body, date, writer, category FROM stories ORDER BY id DESC LIMIT 1"
    assert list(database.rows(newest)[0]) == columns
    assert app.post("AcceptStory", storyId=identity).says_sorry()
    assert sizes(database) == grown(before, submissions=-1, stories=1)


def test_a_submission_is_rejected_once(app: Running, database: PrivateMariaDB) -> None:
    identity = database.value("SELECT MIN(id) FROM submissions")
    before = sizes(database)
    assert not app.get("RejectStory", storyId=identity).says_sorry()
    assert sizes(database) == grown(before, submissions=-1)
    assert app.get("RejectStory", storyId=identity).says_sorry()
    assert sizes(database) == grown(before, submissions=-1)


def test_published_clients_may_write_by_get(app: Running, database: PrivateMariaDB) -> None:
    before = sizes(database)
    page = app.get("StoreStory", title="by GET", body="b c", category=1)
    assert page.status == 200
    assert sizes(database) == grown(before, submissions=1)
