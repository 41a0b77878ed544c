"""The 24 states of a RUBBoS session, as the driver's workload description has them.

Each state says which page it asks for and where each parameter comes from; the form of these
dictionaries is that of `agent/crates/drive/src/workload.rs`. Where the published client
(michaelmior/RUBBoS, `Client/edu/rice/rubbos/client`) and a mended one differ, both are here;
docs/reference/fidelity.md names every difference.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from tierlab.servers.content import Fidelity
from tierlab.workloads.rubbos.population import Population
from tierlab.workloads.rubbos.shape import CONTEXT, DYNAMIC_PREFIX
from tierlab.workloads.sessions.description import State, login, state, values

STORIES_PER_PAGE = "20"
SUBJECT_CHARACTERS = 100
BODY_CHARACTERS = 1_024
RECENT_SHARE = 0.96
"""Share of the older-stories requests that ask for a day of the past week."""
LAST_NEW_NUMBER = 1_000_000
"""Registered users are numbered up to so many beyond the data set's."""


def states(fidelity: Fidelity, population: Population, today: date) -> list[State]:
    """All states; `today` is the published client's wall clock, which the corrected one ignores."""
    published = fidelity == "published"
    write = "GET" if published else "POST"
    back = "home" if published else "back"
    comment = values("comment_table", "storyId", "commentId", "filter", "display", kind="link")
    first_weight = 2 if published else 1
    return [
        _page("StoriesOfTheDay", "StoriesOfTheDay"),
        _static("Register", "register.html"),
        _page("RegisterUser", "RegisterUser", _new_user(), method=write, draw=_new(population)),
        _static("Browse", "browse.html"),
        _page("BrowseCategories", "BrowseCategories"),
        _category(published),
        _older_stories(published, population, today),
        _page(
            "ViewStory",
            "ViewStory",
            values("storyId", kind="link"),
            pick={"target": _story_links(published), "remember": "story"},
            missing="back",
        ),
        _page(
            "PostComment",
            "PostComment",
            values("comment_table", "storyId", "parent", kind="link"),
            pick={"target": {"link": "PostComment"}},
            missing=back,
        ),
        _page(
            "StoreComment",
            "StoreComment",
            login()
            | values("storyId", "parent", kind="field")
            | {"subject": {"words": SUBJECT_CHARACTERS}, "body": {"words": BODY_CHARACTERS}}
            | values("comment_table", kind="field"),
            method=write,
            missing=back,
        ),
        _page(
            "ViewComment",
            "ViewComment",
            comment if published else comment | {"page": {"link_or": ["page", "0"]}},
            pick={"target": {"link": "ViewComment"}, "first_weight": first_weight},
            missing="back",
        ),
        _page(
            "ModerateComment",
            "ModerateComment",
            values("comment_table", "commentId", kind="link"),
            pick={"target": {"link": "ModerateComment"}},
            missing="back",
        ),
        _page(
            "StoreModerateLog",
            "StoreModeratorLog",
            login()
            | values("commentId", kind="field")
            | {"rating": {"choice": ["-1", "0"] if published else ["-1", "0", "1"]}}
            | values("comment_table", kind="field"),
            method=write,
            missing=back,
        ),
        _page("SubmitStory", "SubmitStory"),
        _page(
            "StoreStory",
            "StoreStory",
            login()
            | {"title": {"words": SUBJECT_CHARACTERS}, "body": {"words": BODY_CHARACTERS}}
            | {"category": "any_option"},
            method=write,
            missing=back,
        ),
        _page("Search", "Search"),
        # The published client forgets the word of a search for stories, because its numbers for
        # the search states are off by one.
        _search("SearchInStories", "0", published, {"from": "dictionary", "hold": not published}),
        _search("SearchInComments", "1", published, {"from": "dictionary", "hold": True}),
        _search(
            "SearchInUsers",
            "2",
            published,
            {"from": {"numbers": [1, population.users]}, "hold": True},
            "user{drawn}",
        ),
        _static("Author (login)", "author.html"),
        _page("Author (task)", "Author", login()),
        _page("ReviewStories", "ReviewStories"),
        *(
            _page(
                name,
                name,
                values("storyId", kind="link"),
                pick={"target": {"link": name}},
                method=write,
            )
            for name in ("AcceptStory", "RejectStory")
        ),
    ]


def _static(name: str, file: str) -> State:
    return {"name": name, "path": f"{CONTEXT}/{file}"}


def _page(
    name: str, servlet: str, parameters: Mapping[str, Any] | None = None, **rest: Any
) -> State:
    return state(name, DYNAMIC_PREFIX + servlet, parameters, **rest)


def _new(population: Population) -> dict[str, Any]:
    first = population.users + 1
    return {"from": {"numbers": [first, population.users + LAST_NEW_NUMBER]}}


def _new_user() -> dict[str, Any]:
    return {
        "firstname": {"drawn": "Great{drawn}"},
        "lastname": {"drawn": "User{drawn}"},
        "nickname": {"drawn": "user{drawn}"},
        "email": {"drawn": "Great{drawn}.User{drawn}@rubbos.com"},
        "password": {"drawn": "password{drawn}"},
    }


def _story_links(published: bool) -> dict[str, str]:
    return {"parameter": "storyId"} if published else {"link": "ViewStory"}


def _paging(published: bool, servlet: str) -> dict[str, Any]:
    """The next or previous page; the published client follows any link that has a page number."""
    link = None if published else servlet
    return {"paging": {"parameter": "page", "link": link, "absent": "0"}}


def _category(published: bool) -> State:
    servlet = "BrowseStoriesByCategory"
    page = _paging(published, servlet) if published else {"link_or": ["page", "0"]}
    target = {"parameter": "category"} if published else {"link": servlet}
    return _page(
        "BrowseStoriesInCategory",
        servlet,
        values("category", "categoryName", kind="link")
        | {"page": page, "nbOfStories": {"constant": STORIES_PER_PAGE}},
        pick={"target": target, "remember": "category"},
        missing="back",
    )


def _older_stories(published: bool, population: Population, today: date) -> State:
    days = _published_days(population, today) if published else _days(population)
    columns = ("day", "month", "year")
    # A page number belongs to the day of the page before; the corrected user starts a day anew.
    page = _paging(True, "OlderStories") if published else {"constant": "0"}
    return _page(
        "OlderStories",
        "OlderStories",
        values(*columns, kind="row")
        | {"page": page, "nbOfStories": {"constant": STORIES_PER_PAGE}},
        row={
            "columns": columns,
            "rows": [[str(part) for part in day] for day in days],
            "weights": list(days.values()),
        },
    )


def _days(population: Population) -> dict[tuple[int, int, int], float]:
    """Any day of the past week, or now and then any day there is, with its weight."""
    days = (population.last_day - population.first_day).days + 1
    every = [population.last_day - timedelta(days=n) for n in range(days)]
    weights = {_parts(day): (1 - RECENT_SHARE) / days for day in every}
    for day in every[:7]:
        weights[_parts(day)] += RECENT_SHARE / min(7, days)
    return weights


def _published_days(population: Population, today: date) -> dict[tuple[int, int, int], float]:
    """The published client's days with their weights.

    It draws r of 0..99. Up to 95 it goes r / 10 days back, at least 1 and at most 7, turning the
    day of the month without the month; above, it draws day, month and one of three years apart
    from each other, none before the oldest month or after this year. Days that do not exist are
    left out: the published pages found no stories on them, ours call them a mistake.
    """
    weights: dict[tuple[int, int, int], float] = {}
    days_of_month = monthrange(today.year, today.month)[1]
    for r in range(96):
        back = min(max(r // 10, 1), 7)
        day = (today.day - 1 - back) % days_of_month + 1
        _add(weights, (day, today.month, today.year), 1 / 100)
    oldest = population.first_day
    for year in (min(oldest.year + n, today.year) for n in range(3)):
        for month in range(1, 13):
            first = max(month, oldest.month) if year == oldest.year else month
            for day in range(1, monthrange(year, first)[1] + 1):
                _add(weights, (day, first, year), 4 / 100 / (3 * 12 * 31))
    return weights


def _add(weights: dict[tuple[int, int, int], float], day: tuple[int, int, int], by: float) -> None:
    weights[day] = weights.get(day, 0.0) + by


def _parts(day: date) -> tuple[int, int, int]:
    return day.day, day.month, day.year


def _search(
    name: str, kind: str, published: bool, draw: dict[str, Any], text: str = "{drawn}"
) -> State:
    return _page(
        name,
        "Search",
        {
            "search": {"drawn": text},
            "type": {"constant": kind},
            "page": _paging(published, "Search"),
            "nbOfStories": {"constant": STORIES_PER_PAGE},
        },
        draw=draw,
    )
