"""Every page that reads, against what the database says by itself."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import pytest

from tests.web import Page

from .application import Running
from .private_mariadb import PrivateMariaDB

pytestmark = pytest.mark.slow


def shown_stories(page: Page) -> list[int]:
    return [int(link["storyId"]) for link in page.links_to("ViewStory")]


def test_home_shows_the_ten_newest_stories_with_their_beginnings(
    app: Running, database: PrivateMariaDB
) -> None:
    newest = database.rows(
        "SELECT s.id, s.title, s.body, u.nickname FROM stories s JOIN users u ON u.id = s.writer"
        " ORDER BY s.date DESC, s.id DESC LIMIT 10"
    )
    page = app.get("StoriesOfTheDay")
    assert page.status == 200
    assert shown_stories(page) == [row[0] for row in newest]
    for _, title, body, nickname in newest:
        assert title in page.text
        assert body[:512] in page.text
        assert len(body) <= 512 or body[:514] not in page.text
        assert f"by {nickname} on" in page.text


def test_categories_are_all_there(app: Running, database: PrivateMariaDB) -> None:
    links = app.get("BrowseCategories").links_to("BrowseStoriesByCategory")
    expected = database.rows("SELECT id, name FROM categories ORDER BY id")
    assert len(expected) == 85
    assert [(int(link["category"]), link["categoryName"]) for link in links] == expected


def test_a_category_is_paged_newest_first(app: Running, database: PrivateMariaDB) -> None:
    (category, count) = database.rows(
        "SELECT category, COUNT(*) AS n FROM stories GROUP BY category ORDER BY n DESC LIMIT 1"
    )[0]
    expected = [
        row[0]
        for row in database.rows(
            "SELECT id FROM stories WHERE category = %s ORDER BY date DESC, id DESC", category
        )
    ]
    seen: list[int] = []
    page = app.get("BrowseStoriesByCategory", category=category, categoryName="x", nbOfStories=1)
    while not page.says_sorry():
        assert len(shown_stories(page)) == 1
        seen += shown_stories(page)
        (ahead,) = [
            link
            for link in page.links_to("BrowseStoriesByCategory")
            if int(link["page"]) == len(seen)
        ]
        page = app.get("BrowseStoriesByCategory", **ahead)
    assert len(seen) == count
    assert seen == expected


def test_a_day_comes_from_the_new_tables_or_the_old(
    app: Running, database: PrivateMariaDB, load_day: date
) -> None:
    oldest = database.value("SELECT DATE(MIN(date)) FROM old_stories")
    for table, day in (("stories", load_day - timedelta(days=2)), ("old_stories", oldest)):
        expected = database.rows(
            f"SELECT id FROM {table} WHERE DATE(date) = %s ORDER BY date DESC, id DESC LIMIT 25",
            day,
        )
        page = app.get("OlderStories", day=day.day, month=day.month, year=day.year)
        assert shown_stories(page) == [row[0] for row in expected]
        assert expected


def test_a_day_without_stories_is_sorry_and_no_day_is_the_form(app: Running) -> None:
    assert app.get("OlderStories", day=1, month=1, year=1999).says_sorry()
    form = app.get("OlderStories").form("OlderStories")
    assert form.fields.keys() == {"day", "month", "year"}


@pytest.mark.parametrize("age", ["", "old_"])
def test_a_story_shows_its_first_comments_and_the_titles_of_replies(
    app: Running, database: PrivateMariaDB, age: str
) -> None:
    story = database.value(
        f"SELECT MAX(story_id) FROM {age}comments WHERE parent = 0 AND rating >= 0"
    )
    title, body = database.rows(f"SELECT title, body FROM {age}stories WHERE id = %s", story)[0]
    page = app.get("ViewStory", storyId=story)
    assert title in page.text
    assert body in page.text
    assert {link["comment_table"] for link in page.links_to("ViewComment")} == {f"{age}comments"}
    comments = database.rows(
        f"SELECT id, parent, subject, comment FROM {age}comments"
        " WHERE story_id = %s AND rating >= 0 ORDER BY id",
        story,
    )
    shown = {int(link["commentId"]) for link in page.links_to("ViewComment")}
    top = [row for row in comments if row[1] == 0]
    assert len(top) <= 25
    for identity, _, subject, text in top:
        assert identity in shown
        assert subject in page.text
        assert text in page.text
    nested = [row for row in comments if row[1] in {row[0] for row in top}]
    assert {row[0] for row in nested} <= shown
    assert not any(text in page.text for *_, text in nested)


def test_a_story_offers_what_may_be_done_with_its_comments(
    app: Running, database: PrivateMariaDB
) -> None:
    story = database.value("SELECT MIN(id) FROM stories")
    page = app.get("ViewStory", storyId=story)
    posts = page.links_to("PostComment")
    assert posts[0] == {"comment_table": "comments", "storyId": str(story), "parent": "0"}
    replied = {int(link["parent"]) for link in posts[1:]}
    moderated = {int(link["commentId"]) for link in page.links_to("ModerateComment")}
    top = database.rows(
        "SELECT id FROM comments WHERE story_id = %s AND parent = 0 AND rating >= 0", story
    )
    assert replied == moderated == {row[0] for row in top}
    form = page.form("ViewComment")
    assert form.fields["storyId"] == str(story)
    counts = Counter(
        row[0] for row in database.rows("SELECT rating FROM comments WHERE story_id = %s", story)
    )
    for rating, count in counts.items():
        assert f"{rating} and better: {count} comments" in page.text


@pytest.mark.parametrize(("display", "texts"), [(0, False), (1, False), (2, True)])
def test_replies_are_hidden_titled_or_full(
    app: Running, database: PrivateMariaDB, display: int, texts: bool
) -> None:
    story, parent, reply = database.rows(
        "SELECT c.story_id, p.id, c.id FROM comments c JOIN comments p ON p.id = c.parent"
        " WHERE p.parent = 0 AND p.rating >= 0 AND c.rating >= 0 ORDER BY c.id LIMIT 1"
    )[0]
    text = database.value("SELECT comment FROM comments WHERE id = %s", reply)
    page = app.get(
        "ViewComment",
        **{"comment_table": "comments", "storyId": story, "commentId": 0, "display": display},
    )
    shown = {int(link["commentId"]) for link in page.links_to("ViewComment")}
    assert parent in shown
    assert (reply in shown) == (display > 0)
    assert (text in page.text) == texts


def test_a_chosen_comment_is_shown_with_its_replies_and_its_parent(
    app: Running, database: PrivateMariaDB
) -> None:
    story, comment, parent = database.rows(
        "SELECT story_id, id, parent FROM comments WHERE parent <> 0 AND childs > 0"
        " ORDER BY id LIMIT 1"
    )[0]
    replies = database.rows("SELECT id FROM comments WHERE parent = %s AND rating >= -1", comment)
    page = app.get(
        "ViewComment", comment_table="comments", storyId=story, commentId=comment, filter=-1
    )
    shown = [int(link["commentId"]) for link in page.links_to("ViewComment")]
    assert set(shown) == {comment, parent} | {row[0] for row in replies}
    text = database.value("SELECT comment FROM comments WHERE id = %s", comment)
    assert text in page.text


def test_the_filter_leaves_out_worse_comments(app: Running, database: PrivateMariaDB) -> None:
    story = database.value("SELECT MIN(id) FROM stories")
    for least in (-1, 0, 2):
        page = app.get(
            "ViewComment", comment_table="comments", storyId=story, commentId=0, filter=least
        )
        expected = database.rows(
            "SELECT id FROM comments WHERE story_id = %s AND parent = 0 AND rating >= %s",
            *(story, least),
        )
        moderated = {int(link["commentId"]) for link in page.links_to("ModerateComment")}
        assert moderated == {row[0] for row in expected}


def test_search_finds_what_begins_with_the_words(app: Running, database: PrivateMariaDB) -> None:
    title = database.value("SELECT title FROM stories ORDER BY id LIMIT 1")
    word = title.split()[0]
    expected = database.rows(
        "SELECT id FROM stories WHERE LEFT(title, %s) = %s ORDER BY date DESC, id DESC LIMIT 25",
        *(len(word), word),
    )
    page = app.get("Search", search=word, type=0)
    assert shown_stories(page) == [row[0] for row in expected]
    assert expected


def test_search_finds_one_comment_a_story(app: Running, database: PrivateMariaDB) -> None:
    word = database.value("SELECT subject FROM comments ORDER BY id LIMIT 1").split()[0]
    expected = database.rows(
        "SELECT DISTINCT story_id FROM comments WHERE LEFT(subject, %s) = %s", len(word), word
    )
    found: list[dict[str, str]] = []
    for number in range(100):
        page = app.get("Search", search=word, type=1, page=number, nbOfStories=20)
        if page.says_sorry():
            break
        found += page.links_to("ViewComment")
    assert Counter(int(link["storyId"]) for link in found) == {row[0]: 1 for row in expected}
    assert {(link["filter"], link["display"]) for link in found} == {("0", "0")}


def test_search_finds_stories_by_their_author(app: Running, database: PrivateMariaDB) -> None:
    expected = database.rows(
        "SELECT s.id FROM stories s JOIN users u ON u.id = s.writer"
        " WHERE LEFT(u.nickname, 5) = 'user1' ORDER BY s.date DESC, s.id DESC LIMIT 20"
    )
    page = app.get("Search", search="user1", type=2, nbOfStories=20)
    assert shown_stories(page) == [row[0] for row in expected]
    assert expected


def test_search_goes_on_to_old_stories(app: Running, database: PrivateMariaDB) -> None:
    title = database.value(
        "SELECT title FROM old_stories o WHERE CHAR_LENGTH(title) > 40 AND NOT EXISTS"
        " (SELECT 1 FROM stories s WHERE s.title LIKE CONCAT(o.title, '%%')) LIMIT 1"
    )
    page = app.get("Search", search=title, type=0)
    identity = database.value("SELECT MAX(id) FROM old_stories WHERE title = %s", title)
    assert identity in shown_stories(page)


def test_forms_lead_to_what_they_are_for(app: Running, database: PrivateMariaDB) -> None:
    assert app.get("Search").form("Search").fields.keys() == {"search", "type"}
    submit = app.get("SubmitStory").form("StoreStory")
    assert submit.method == "post"
    assert submit.fields.keys() == {"nickname", "password", "title", "category", "body"}
    post = app.get("PostComment", comment_table="old_comments", storyId=3, parent=4)
    fields = post.form("StoreComment").fields
    assert (fields["comment_table"], fields["storyId"], fields["parent"]) == (
        *("old_comments", "3", "4"),
    )
    comment, subject = database.rows("SELECT id, subject FROM comments LIMIT 1")[0]
    moderate = app.get("ModerateComment", comment_table="comments", commentId=comment)
    assert subject in moderate.text
    assert moderate.form("StoreModeratorLog").fields["commentId"] == str(comment)


def test_authors_get_their_task_and_others_do_not(app: Running, database: PrivateMariaDB) -> None:
    for number in (1, 50):
        page = app.get("Author", nickname=f"author{number}", password=f"password{number}")
        (link,) = page.links_to("ReviewStories")
        nickname = database.value("SELECT nickname FROM users WHERE id = %s", link["authorId"])
        assert nickname == f"author{number}"
    assert app.get("Author", nickname="author1", password="password2").says_sorry()
    assert app.get("Author", nickname="user1", password="password1").says_sorry()


def test_review_shows_the_ten_newest_submissions_in_full(
    app: Running, database: PrivateMariaDB
) -> None:
    newest = database.rows("SELECT id, body FROM submissions ORDER BY date DESC, id DESC LIMIT 10")
    page = app.get("ReviewStories")
    for target in ("AcceptStory", "RejectStory"):
        assert [int(link["storyId"]) for link in page.links_to(target)] == [r[0] for r in newest]
    assert all(body in page.text for _, body in newest)
