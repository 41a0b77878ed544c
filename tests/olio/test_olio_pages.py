"""Every page that reads, against what the database says by itself; and that all is valid HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rubis.databases import Server
from tierlab.workloads.olio.population import Population
from tierlab.workloads.olio.shape import EVENT_STATICS, FORM_STATICS

from .browser import Browser, Reply, mistakes
from .php import Olio, olio

pytestmark = pytest.mark.slow
TO_COME = "eventtimestamp >= CAST(CURRENT_TIMESTAMP AS CHAR(19))"
OTHER = 11


def column(database: Server, sql: str, *parameters: object) -> list[object]:
    return [row[0] for row in database.rows(sql, *parameters)]


def pages(visitor: Browser) -> dict[str, Reply]:
    """One of each page that reads."""
    return {
        "home": visitor.get("index"),
        "home, second page": visitor.get("index", page=2),
        "home, a ZIP code": visitor.get("index", zipcode="12345", order="created_at"),
        "home, a day": visitor.get("index", year=2026, month=12, day=24),
        "tag": visitor.get("taggedEvents", tag="tag1", count=120),
        "tag, by its form": visitor.post("taggedEvents", tag="tag1"),
        "event": visitor.get("events", socialEventID=5),
        "person": visitor.get("users", username="user7"),
        "posted": visitor.get("postedEvents", username="user7"),
        "attended": visitor.get("upcomingEvents"),
        "person form": visitor.get("addPerson"),
        "event form": visitor.get("addEvent"),
        "nobody": visitor.get("users", username="nobody"),
    }


def test_every_page_that_reads_is_valid_html(browser: Browser, user: Browser, app: Olio) -> None:
    found = [*pages(browser).values(), *pages(user).values()]
    assert {page.status for page in found} == {200}
    assert mistakes(*found) == ""
    assert "failed" not in app.log


def test_what_a_page_needs_is_there(browser: Browser) -> None:
    for path in {*EVENT_STATICS, *FORM_STATICS}:
        kind = {"css": "text/css", "js": "text/javascript", "png": "image/png"}
        reply = browser.open("GET", path)
        assert (reply.status, reply.kind.replace("application/javascript", "text/javascript")) == (
            200,
            kind[path.rpartition(".")[2]],
        ), path


def test_home_lists_the_next_ten_with_their_attendees(browser: Browser, database: Server) -> None:
    page = browser.get("index")
    dates = column(
        database,
        f"SELECT eventdate FROM socialevent WHERE {TO_COME} ORDER BY eventdate LIMIT 10",
    )
    shown = [int(link["socialEventID"]) for link in page.links_to("events")]
    marks = ", ".join(["%s"] * 10)
    of_shown = column(
        database,
        f"SELECT eventdate FROM socialevent WHERE socialeventid IN ({marks}) ORDER BY eventdate",
        *shown,
    )
    assert of_shown == dates
    assert page.pictures == [f"e{event}t.jpg" for event in shown]
    count = "SELECT COUNT(*) FROM person_socialevent WHERE socialeventid = %s"
    for event in shown:
        assert f"; {database.value(count, event)} attend." in page.text
    assert page.source.count("attend.</p>") == 10


def test_the_cloud_has_the_most_used_tags_by_the_alphabet(
    browser: Browser, database: Server, population: Population
) -> None:
    shown = [link["tag"] for link in browser.get("index").links_to("taggedEvents")]
    assert shown == sorted(shown)
    assert len(shown) == min(50, population.tags)
    if population.tags > 50:
        least = min(
            column(database, "SELECT refcount FROM socialeventtag ORDER BY 1 DESC LIMIT 50")
        )
        assert all(
            database.value("SELECT refcount FROM socialeventtag WHERE tag = %s", tag) >= least
            for tag in shown
        )


def test_pages_of_a_list_follow_each_other(browser: Browser, database: Server) -> None:
    count = database.value(f"SELECT COUNT(*) FROM socialevent WHERE {TO_COME}")
    last = -(-count // 10)
    assert browser.get("index").links_to("index")[-1] == {"page": "2"}
    assert f"Page 1 of {last}" in browser.get("index").text
    assert len(browser.get("index", page=last).pictures) == (count - 1) % 10 + 1
    assert browser.get("index", page=last + 1).pictures == []


def test_home_of_a_day_and_of_a_zip_code(browser: Browser, database: Server) -> None:
    day = str(database.value("SELECT MAX(eventdate) FROM socialevent"))
    year, month, date = day.split("-")
    of_day = browser.get("index", year=year, month=month, day=date)
    events = column(database, "SELECT title FROM socialevent WHERE eventdate = %s", day)
    assert sorted(of_day.heads()) == sorted(events)
    zip_code = database.value(
        "SELECT MAX(a.zip) FROM address a JOIN socialevent e ON e.address_addressid = a.addressid"
    )
    near = browser.get("index", zipcode=zip_code, order="event_date")
    assert len(near.heads()) >= 1


def test_a_tag_has_ten_of_its_events(browser: Browser, database: Server) -> None:
    tag = "SELECT tag FROM socialeventtag WHERE refcount {} ORDER BY refcount DESC, tag LIMIT 1"
    often, seldom = database.value(tag.format("> 10")), database.value(tag.format("< 10"))
    for name in (often, seldom):
        events = column(
            database,
            "SELECT e.title FROM socialevent e JOIN socialeventtag_socialevent l"
            " ON l.socialeventid = e.socialeventid JOIN socialeventtag t"
            " ON t.socialeventtagid = l.socialeventtagid WHERE t.tag = %s",
            name,
        )
        titles = browser.get("taggedEvents", tag=name, count=120).heads()
        assert len(titles) == min(10, len(events))
        assert set(titles) <= set(events)
        by_form = browser.post("taggedEvents", tag=name)
        assert by_form.heads() == titles
        assert f"Page 1 of {-(-len(events) // 10)}" in by_form.text
    assert browser.get("taggedEvents", tag="none").heads() == []


def test_an_event_has_everything_there_is(
    browser: Browser, user: Browser, database: Server
) -> None:
    page = browser.get("events", socialEventID=5)
    row = database.rows(
        "SELECT e.description, e.eventtimestamp, a.street1, a.zip FROM socialevent e JOIN address a"
        " ON a.addressid = e.address_addressid WHERE e.socialeventid = 5"
    )[0]
    assert all(str(value) in page.text for value in row)
    comments = column(database, "SELECT comments FROM comments_rating WHERE socialeventid = 5")
    assert page.source.count("<dd>") == len(comments)
    tags = column(
        database,
        "SELECT t.tag FROM socialeventtag t JOIN socialeventtag_socialevent l"
        " ON l.socialeventtagid = t.socialeventtagid WHERE l.socialeventid = 5",
    )
    assert [link["tag"] for link in page.links_to("taggedEvents")] == sorted(map(str, tags))
    assert page.pictures == ["e5t.jpg"]
    assert page.links_to("fileService") == [{"file": "e5l.pdf"}]
    names = column(database, "SELECT username FROM person_socialevent WHERE socialeventid = 5")
    listed = [link["username"] for link in page.links_to("users")]
    assert set(map(str, names)) <= set(listed)
    assert page.links_to("addAttendee") == []
    event = database.value(
        "SELECT MIN(socialeventid) FROM person_socialevent WHERE username = 'user7'"
    )
    attended = user.get("events", socialEventID=event)
    assert attended.links_to("deleteAttendee") == [{"id": str(event)}]
    first = attended.source.partition("Attendees</h2>")[2]
    assert first.index("username=user7") == first.index("username=")


def test_a_person_has_friends_requests_and_events(browser: Browser, database: Server) -> None:
    page = browser.get("users", username="user7")
    related = "SELECT {} FROM person_person WHERE {} = 'user7' AND is_accepted = {}"
    friends, asking = (
        column(database, related.format("friends_username", "person_username", accepted))
        for accepted in (1, 0)
    )
    asked = column(database, related.format("person_username", "friends_username", 0))
    everybody = [link["username"] for link in page.links_to("users")]
    assert sorted(everybody) == sorted(map(str, [*friends, *asking, *asked]))
    assert page.pictures[0] == "p7.jpg"
    assert len(page.pictures) == 1 + len(friends)
    posted = column(
        database,
        "SELECT socialeventid FROM socialevent WHERE submitterusername = 'user7'"
        f" AND {TO_COME} ORDER BY eventdate LIMIT 10",
    )
    assert [int(link["socialEventID"]) for link in page.links_to("events")] == posted


def test_published_pages_show_the_same(browser: Browser, database: Server, tmp_path: Path) -> None:
    """Their statements differ: an event's time is made a time before it is compared."""
    asked: list[tuple[str, dict[str, object]]] = [
        ("index", {"page": 1}),
        ("index", {"zipcode": "12345", "order": "event_date"}),
        ("users", {"username": "user7"}),
        ("postedEvents", {"username": "user7"}),
    ]
    with olio(tmp_path, database, OLIO_FIDELITY="published") as published:
        visitor = Browser(published.port)
        for page, parameters in asked:
            assert visitor.get(page, **parameters).source == browser.get(page, **parameters).source
        assert len(visitor.get("index").pictures) == 10
        assert "failed" not in published.log


def test_files_of_generated_rows_are_served(browser: Browser) -> None:
    sizes = {"p7.jpg": 671_520, "p7t.jpg": 5_758, "e5t.jpg": 5_895, "e5l.pdf": 129_617}
    for name, size in sizes.items():
        reply = browser.get("fileService", file=name)
        kind = "application/pdf" if name.endswith("pdf") else "image/jpeg"
        assert (reply.status, len(reply.body), reply.kind) == (200, size, kind)


def test_who_logs_in_is_known_until_it_logs_out(browser: Browser) -> None:
    assert 'name="user_name"' in browser.get("index").source
    wrong = browser.post("login", user_name="user7", password="8")
    assert "Sorry, there is no user user7 with that password." in wrong.text
    right = browser.login(7)
    assert (right.status, right.location) == (303, "/olio/php/index.php")
    home = browser.get("index")
    assert 'name="user_name"' not in home.source
    assert home.links_to("users")[0] == {"username": "user7"}
    assert "Log out" in browser.get("addEvent").text
    browser.get("logout")
    assert 'name="user_name"' in browser.get("index").source
