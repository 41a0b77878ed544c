"""The seven operations of Olio's users, as the driver's workload description has them.

Each is a state that transitions lead to, with the pages that it asks for before and after its own
as steps. What the published client does (Apache Olio 0.2, `UIDriver.java`, 2010) and what is mended
is in docs/reference/olio.md.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tierlab.servers.content import Fidelity
from tierlab.workloads.olio import draws, shape
from tierlab.workloads.olio.population import Population
from tierlab.workloads.sessions.delay import cycle
from tierlab.workloads.sessions.description import State, state, values

CYCLE_NS = 5_000_000_000
ADD_PERSON_LEAST_NS = 2_000_000_000
ADD_EVENT_LEAST_NS = 3_000_000_000
COUNTS = (100, 150)
"""How many events a tag has, as the client says when it searches for them."""
ATTEND_CHANCE = 0.1
EVENT = "event"
"""The name by which an event of a page is remembered."""
LOGGED_IN = "Log out"
"""What a page offers to who has logged in."""
_FROM_FILES = {"contains": "fileService"}
_NO_IMAGES = {"element": "none"}
_AN_EVENT = [
    {"name": EVENT, "after": "events.php?socialEventID=", "until": '"', "which": "any"},
]
_LOGOUT = {"state": "Logout", "when": {"logged_in": True}}


def states(fidelity: Fidelity, population: Population) -> list[State]:
    """The operations in the matrix's order, then the pages that are only steps of one."""
    return [
        _page("HomePage", "index", resources=shape.PAGE_STATICS, extract=_AN_EVENT),
        _page(
            "Login",
            "login",
            values("user_name", "password", kind="identity") | {"submit": {"constant": "Login"}},
            method="POST",
            images=_NO_IMAGES,
            effect="log_in",
            before=[_LOGOUT],
            expect={"text": LOGGED_IN},
        ),
        _page(
            "TagSearch",
            "taggedEvents",
            {"tag": {"drawn": "tag{drawn}"}, "count": {"number": COUNTS}},
            draw={"from": "held"},
            before=[{"state": "Tag form"}],
            resources=shape.PAGE_STATICS,
            extract=_AN_EVENT,
        ),
        _event(fidelity),
        _page(
            "PersonDetail",
            "users",
            {"username": {"drawn": "user{drawn}"}},
            draw={"from": {"numbers": (1, population.people)}},
            resources=shape.PAGE_STATICS,
        ),
        _page(
            "AddPerson",
            "addPerson",
            before=[_LOGOUT],
            after=[{"state": "Person form"}],
            resources=shape.FORM_STATICS,
            delay=cycle(CYCLE_NS, ADD_PERSON_LEAST_NS),
        ),
        _page(
            "AddEvent",
            "addEvent",
            after=[{"state": "Event form", "when": {"logged_in": True}}],
            resources=shape.FORM_STATICS,
            delay=cycle(CYCLE_NS, ADD_EVENT_LEAST_NS),
        ),
        _page("Logout", "logout", images=_NO_IMAGES, effect="log_out"),
        _page(
            "Tag form",
            "taggedEvents",
            {"tag": {"drawn": "tag{drawn}"}, "tagsearchsubmit": {"constant": "Search Tags"}},
            method="POST",
            draw={"from": {"numbers": (1, population.tags)}},
            images=_NO_IMAGES,
        ),
        _page("AddAttendee", "addAttendee", {"id": {"remembered": EVENT}}, images=_NO_IMAGES),
        _person_form(population),
        _event_form(population),
    ]


def _page(name: str, page: str, parameters: dict[str, Any] | None = None, **rest: Any) -> State:
    return state(
        name,
        f"{shape.DYNAMIC_PREFIX}{page}.php",
        parameters,
        **{"images": _FROM_FILES} | rest,
    )


def _event(fidelity: Fidelity) -> State:
    # The published client finds the word on every page, among "Attendees".
    offered = "Attend" if fidelity == "published" else ">Attend<"
    attend = {"logged_in": True, "says": offered, "chance": ATTEND_CHANCE}
    return _page(
        "EventDetail",
        "events",
        {"socialEventID": {"remembered": EVENT}},
        after=[{"state": "AddAttendee", "when": attend}],
        resources=shape.EVENT_STATICS,
    )


def _address() -> dict[str, Any]:
    return {
        "street1": {
            "joined": [
                {"number": (1, 99_999)},
                {"constant": " "},
                {"letters": (1, 11)},
                {"constant": " "},
                {"choice": [street for street in draws.STREETS if street]},
            ]
        },
        "street2": {"letters": (0, 20)},
        "city": {"letters": (4, 14)},
        "state": {"letters": (2, 2)},
        "zip": {"digits": 5},
        "country": {"choice": ["USA", "Elsewhere"]},
    }


def _person_form(population: Population) -> State:
    return _page(
        "Person form",
        "addPersonResult",
        {
            "add_user_name": {"drawn": "user{drawn}"},
            "psword": {"drawn": "{drawn}"},
            "passwordx": {"drawn": "{drawn}"},
            "first_name": {"letters": (2, 12)},
            "last_name": {"letters": (5, 15)},
            "email": {"drawn": "user{drawn}@olio.example"},
            **_address(),
            "telephone": {"digits": 10},
            "timezone": {"choice": draws.TIME_ZONES},
            "summary": {"letters": draws.SUMMARY},
            "addpersonsubmit": {"constant": "Create"},
            "user_image": {"file": "person.jpg"},
        },
        method="POST",
        encoding="multipart",
        draw={"from": {"unused": {"above": population.people, "every": population.concurrent}}},
        images=_NO_IMAGES,
    )


def _event_form(population: Population) -> State:
    first = population.load_day
    days = [first + timedelta(days=after) for after in range(1, draws.EVENT_DAYS + 1)]
    return _page(
        "Event form",
        "addEventResult",
        {
            "title": {"words": draws.TITLE[1]},
            "description": {"words": draws.DESCRIPTION[1]},
            "telephone": {"digits": 10},
            "timezone": {"choice": draws.TIME_ZONES},
            **_address(),
            **values("year", "month", "day", kind="row"),
            "hour": {"number": draws.HOURS},
            "minute": {"choice": [str(minute) for minute in draws.MINUTES]},
            "tags": {
                "several": {
                    "count": draws.TAGS_OF_EVENT,
                    "of": population.tags,
                    "mean": draws.TAG_MEAN,
                    "within": "tag{n}",
                }
            },
            "addeventsubmit": {"constant": "Create"},
            "upload_image": {"file": "event.jpg"},
            "upload_literature": {"file": "event.pdf"},
        },
        method="POST",
        encoding="multipart",
        row={
            "columns": ["year", "month", "day"],
            "rows": [[str(day.year), str(day.month), str(day.day)] for day in days],
            "weights": [1.0] * len(days),
        },
        images=_NO_IMAGES,
    )
