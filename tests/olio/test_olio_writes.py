"""What users store: rows, files and thumbnails, read back."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from urllib.request import urlopen

import pytest
from PIL import Image

from tests.rubis.databases import Server
from tierlab.workloads.olio import pictures

from .browser import Browser, mistakes
from .php import Olio

pytestmark = pytest.mark.slow
ADDRESS = {
    "street1": "12 Long St",
    "street2": "",
    "city": "Somewhere",
    "state": "CA",
    "zip": "90210",
    "country": "USA",
}
PERSON = {
    "psword": "secret",
    "passwordx": "secret",
    "first_name": "Ann",
    "last_name": "O'Neill & <b>Sons</b>",
    "email": "ann@olio.example",
    "telephone": "0123456789",
    "timezone": "CET",
    "summary": "Says little.",
    "addpersonsubmit": "Create",
    **ADDRESS,
}
EVENT = {
    "title": "A party",
    "description": "With music; bring \\ nothing.",
    "summary": "Party",
    "telephone": "0123456789",
    "timezone": "CET",
    "year": "2027",
    "month": "3",
    "day": "9",
    "hour": "19",
    "minute": "30",
    "tags": "tag3 new1, tag1 new1",
    "addeventsubmit": "Create",
    **ADDRESS,
}
PNG = BytesIO()
Image.new("RGB", (300, 600), "red").save(PNG, "PNG")


def picture(name: str) -> bytes:
    return (pictures.folder() / name).read_bytes()


def geocoded(app: Olio) -> tuple[float, float]:
    """What the geocoder itself says of the address."""
    query = "street=12+Long+St&city=Somewhere&state=CA&zip=90210"
    with urlopen(f"http://127.0.0.1:{app.geocoder}/geocoder/php/geocode.php?{query}") as reply:
        text = reply.read().decode()
    latitude, longitude = (
        float(text.partition(f"<{name}>")[2].partition("<")[0])
        for name in ("Latitude", "Longitude")
    )
    return latitude, longitude


def stored(app: Olio, name: str) -> list[Path]:
    return list((app.folder / "files").glob(f"[0-9]*/[0-9]*/{name}"))


def test_a_person_is_stored_with_photo_and_thumbnail(
    browser: Browser, app: Olio, database: Server
) -> None:
    photo = ("me.jpg", picture("person.jpg"))
    reply = browser.upload(
        "addPersonResult", PERSON | {"add_user_name": "ann"}, {"user_image": photo}
    )
    assert (reply.status, reply.location) == (303, "/olio/php/users.php?username=ann"), app.log
    row = database.rows(
        "SELECT p.userid, p.lastname, p.imageurl, p.imagethumburl, a.zip, a.latitude, a.longitude"
        " FROM person p JOIN address a ON a.addressid = p.address_addressid"
        " WHERE p.username = 'ann'"
    )[0]
    number = row[0]
    assert list(row[1:5]) == ["O'Neill & <b>Sons</b>", f"p{number}.jpg", f"p{number}t.jpg", "90210"]
    assert (float(row[5]), float(row[6])) == geocoded(app)
    assert number > database.value("SELECT userid FROM person WHERE username = 'user7'")
    assert len(stored(app, f"p{number}.jpg")) == len(stored(app, f"p{number}t.jpg")) == 1
    assert browser.get("fileService", file=f"p{number}.jpg").body == photo[1]
    thumbnail = browser.get("fileService", file=f"p{number}t.jpg").body
    with Image.open(BytesIO(thumbnail)) as small:
        assert (small.format, small.size) == ("JPEG", (120, 90))
    page = browser.get("users", username="ann")
    assert page.pictures == [f"p{number}.jpg"]
    assert "Ann O'Neill & <b>Sons</b>" in page.text.replace("\n", " ")
    assert mistakes(page) == ""
    assert browser.post("login", user_name="ann", password="secret").status == 303


def test_a_name_is_given_once_and_leaves_no_address(browser: Browser, database: Server) -> None:
    before = database.value("SELECT COUNT(*) FROM address")
    reply = browser.upload("addPersonResult", PERSON | {"add_user_name": "user7"}, {})
    assert "that username is taken" in reply.text
    assert database.value("SELECT COUNT(*) FROM address") == before


def test_an_event_is_stored_with_tags_files_and_its_submitter(
    user: Browser, app: Olio, database: Server
) -> None:
    counts = "SELECT refcount FROM socialeventtag WHERE tag IN ('tag1', 'tag3') ORDER BY tag"
    before = [row[0] for row in database.rows(counts)]
    files = {
        "upload_image": ("party.png", PNG.getvalue()),
        "upload_literature": ("party.pdf", picture("event.pdf")),
    }
    reply = user.upload("addEventResult", EVENT, files)
    assert reply.status == 303, app.log
    number = int(reply.location.rpartition("=")[2])
    row = database.rows(
        "SELECT title, description, submitterusername, eventtimestamp, eventdate, imageurl,"
        " imagethumburl, literatureurl FROM socialevent WHERE socialeventid = %s",
        number,
    )[0]
    assert list(row) == [
        *("A party", EVENT["description"], "user7", "2027-03-09 19:30:00", "2027-03-09"),
        *(f"e{number}.png", f"e{number}t.png", f"e{number}l.pdf"),
    ]
    assert [row[0] for row in database.rows(counts)] == [count + 1 for count in before]
    assert database.value("SELECT refcount FROM socialeventtag WHERE tag = 'new1'") == 1
    page = user.get("events", socialEventID=number)
    assert [link["tag"] for link in page.links_to("taggedEvents")] == ["new1", "tag1", "tag3"]
    assert page.links_to("deleteAttendee") == [{"id": str(number)}]
    assert mistakes(page) == ""
    assert user.get("fileService", file=f"e{number}.png").body == PNG.getvalue()
    assert user.get("fileService", file=f"e{number}l.pdf").body == picture("event.pdf")
    with Image.open(BytesIO(user.get("fileService", file=f"e{number}t.png").body)) as small:
        assert (small.format, small.size) == ("PNG", (60, 120))
        red = small.convert("RGB").getpixel((30, 60))
        assert red == (255, 0, 0)


def test_who_is_not_logged_in_stores_no_event(browser: Browser, database: Server) -> None:
    before = database.value("SELECT COUNT(*) FROM socialevent")
    assert "you must log in first" in browser.upload("addEventResult", EVENT, {}).text
    assert database.value("SELECT COUNT(*) FROM socialevent") == before


def test_a_user_attends_once_and_no_more(user: Browser, database: Server) -> None:
    event = database.value(
        "SELECT MIN(socialeventid) FROM socialevent WHERE socialeventid NOT IN"
        " (SELECT socialeventid FROM person_socialevent WHERE username = 'user7')"
    )
    count = "SELECT COUNT(*) FROM person_socialevent WHERE socialeventid = %s"
    before = database.value(count, event)
    assert user.get("events", socialEventID=event).links_to("addAttendee") == [{"id": str(event)}]
    for _ in range(2):
        part = user.get("addAttendee", id=event)
        assert part.links_to("deleteAttendee") == [{"id": str(event)}]
        assert part.links_to("users")[0] == {"username": "user7"}
        assert f"{before + 1} Attendees" in part.text
        assert "<html" not in part.source
        assert database.value(count, event) == before + 1
    assert f"{before} Attendees" in user.get("deleteAttendee", id=event).text
    assert database.value(count, event) == before


def test_a_comment_is_stored_and_changed_by_its_author_only(
    user: Browser, app: Olio, database: Server
) -> None:
    asked = {"socialEventID": 9, "rating": 4}
    page = user.post(
        "events", comments="Nice & <i>loud</i>", commentsratingsubmit="Comment", **asked
    )
    assert "Nice & <i>loud</i>" in page.text
    number = database.value("SELECT MAX(commentid) FROM comments_rating")
    other = Browser(app.port)
    other.login(8)
    other.post("events", comments="Spoiled", editingcid=number, **asked)
    text = "SELECT comments FROM comments_rating WHERE commentid = %s"
    assert database.value(text, number) == "Nice & <i>loud</i>"
    user.post("events", comments="Loud", editingcid=number, **asked)
    assert database.value(text, number) == "Loud"
