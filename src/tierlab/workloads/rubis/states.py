"""The 27 states of a RUBiS session, as the driver's workload description has them.

Each state says which page it asks for and where each parameter comes from. Where the published
client (michaelmior/RUBiS, `Client/src/edu/rice/rubis/client`) and a mended one differ, both are
here; docs/reference/rubis.md names every difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tierlab.servers.content import Fidelity
from tierlab.workloads.rubis.auctions import DAYS, drawn_offers
from tierlab.workloads.rubis.generate import COMMENT_MOST, DESCRIPTION_MOST, RATINGS
from tierlab.workloads.rubis.places import CATEGORIES, REGIONS
from tierlab.workloads.rubis.population import Population
from tierlab.workloads.rubis.shape import CONTEXT, DYNAMIC_PREFIX
from tierlab.workloads.sessions.description import State, login, state, values

ITEMS_PER_PAGE = "20"
NAME_CHARACTERS = 100
LAST_NEW_NUMBER = 1_000_000
"""Registered users are numbered up to so many beyond the data set's."""
_OFFERS = 500
"""Items to sell are one of so many offers, drawn once as the data set's are."""
_SEED = 27
_SHORT_TEXT = 100
"""A slip of the published client leaves of a text but its beginning."""
_SENTENCES = (
    "Never again: nothing was as it had been said.",
    "It took long, and it was not quite what I had seen.",
    "As one would expect.",
    "Quick, friendly, and well packed.",
    "The best deal of this year, I can only recommend it.",
)


def states(fidelity: Fidelity, population: Population) -> list[State]:
    """All states, in the published order."""
    published = fidelity == "published"
    write = "GET" if published else "POST"
    back = "home" if published else "back"
    form = {"method": write, "missing": back}
    return [
        _static("Home", "index"),
        _static("Register", "register"),
        _page(
            "RegisterUser",
            "RegisterUser",
            _new_user() | {"region": {"choice": REGIONS} if published else "any_option"},
            method=write,
            missing=back,
            draw=_new(population),
        ),
        _static("Browse", "browse"),
        _page("BrowseCategories", "BrowseCategories"),
        _search("SearchItemsInCategory", "SearchItemsByCategory", published),
        _page("BrowseRegions", "BrowseRegions"),
        _region(published),
        _search("SearchItemsInRegion", "SearchItemsByRegion", published, "region"),
        _item("ViewItem", published),
        _followed("ViewUserInfo", "userId", published, remember="user"),
        _item("ViewBidHistory", published),
        # Few items have the link: as the published one, a user buys whatever it sees.
        _item("BuyNowAuth", published=True),
        _page("BuyNow", "BuyNow", values("itemId", kind="field") | login(), **form),
        _page(
            "StoreBuyNow",
            "StoreBuyNow",
            values("itemId", "userId", "maxQty", kind="field") | {"qty": "any_option"},
            **form,
        ),
        _item("PutBidAuth", published),
        # By its link, not its form: Back leads here from pages without one.
        _followed(
            "PutBid",
            "itemId",
            published,
            remember="item",
            link="PutBidAuth",
            method=write,
            more=login(),
        ),
        _page(
            "StoreBid",
            "StoreBid",
            values("itemId", "userId", "minBid", "maxQty", "qty", kind="field")
            | {"bid": "any_option"},
            **form,
        ),
        _followed("PutCommentAuth", "to", published, "itemId", remember="comment"),
        _followed(
            "PutComment",
            "to",
            published,
            "itemId",
            remember="comment",
            link="PutCommentAuth",
            method=write,
            more=login(),
        ),
        _comment(published, form),
        _static("Sell", "sell"),
        _page("SelectCategoryToSellItem", "BrowseCategories", login(), method=write),
        _sale(published),
        _offer(published, form),
        _static("AboutMe (auth form)", "about_me"),
        _page("AboutMe", "AboutMe", login(), method=write),
    ]


def _static(name: str, file: str) -> State:
    return state(name, f"{CONTEXT}/{file}.html")


def _page(
    name: str, script: str, parameters: Mapping[str, Any] | None = None, **rest: Any
) -> State:
    return state(name, f"{DYNAMIC_PREFIX}{script}.php", parameters, **rest)


def _new(population: Population) -> dict[str, Any]:
    first = population.users + 1
    return {"from": {"numbers": [first, population.users + LAST_NEW_NUMBER]}}


def _new_user() -> dict[str, Any]:
    return {
        "firstname": {"drawn": "Great{drawn}"},
        "lastname": {"drawn": "User{drawn}"},
        "nickname": {"drawn": "user{drawn}"},
        "email": {"drawn": "user{drawn}@rubis.example"},
        "password": {"drawn": "password{drawn}"},
    }


def _followed(
    name: str,
    key: str,
    published: bool,
    *further: str,
    remember: str,
    link: str = "",
    more: Mapping[str, Any] | None = None,
    **rest: Any,
) -> State:
    """A page of what a link leads to; the published client takes any link with the parameter."""
    target = {"parameter": key} if published else {"link": f"{link or name}.php"}
    return _page(
        name,
        name,
        values(key, *further, kind="link") | dict(more or {}),
        pick={"target": target, "remember": remember},
        missing="back",
        **rest,
    )


def _item(name: str, published: bool) -> State:
    return _followed(name, "itemId", published, remember="item")


def _search(name: str, script: str, published: bool, *further: str) -> State:
    """A page of a list; the published client draws what it searches in, and counts from 0."""
    fixed = {"nbOfItems": {"constant": ITEMS_PER_PAGE}}
    if published:
        drawn = {"category": _numbers(len(CATEGORIES)), "region": _numbers(len(REGIONS))}
        asked = {key: drawn[key] for key in ("category", *further)}
        page = {"paging": {"parameter": "page", "link": None, "absent": "0"}}
        return _page(name, script, asked | {"page": page} | fixed)
    return _page(
        name,
        script,
        values("category", "categoryName", *further, kind="link")
        | {"page": {"link_or": ["page", "0"]}}
        | fixed,
        pick={"target": {"link": f"{script}.php"}, "remember": name},
        missing="back",
    )


def _numbers(count: int) -> dict[str, Any]:
    return {"choice": [str(number) for number in range(count)]}


def _region(published: bool) -> State:
    name, script = "BrowseCategoriesInRegion", "BrowseCategories"
    if published:
        return _page(name, script, {"region": {"choice": REGIONS}})
    return _page(
        name,
        script,
        values("region", kind="link"),
        pick={"target": {"link": f"{script}.php"}, "remember": "region"},
        missing="back",
    )


def _comment(published: bool, form: Mapping[str, Any]) -> State:
    said: dict[str, Any] = {"rating": "any_option", "comment": {"words": COMMENT_MOST}}
    rest = dict(form)
    if published:
        said = values("rating", "comment", kind="row")
        rest["row"] = {
            "columns": ["rating", "comment"],
            "rows": [list(pair) for pair in zip(map(str, RATINGS), _SENTENCES, strict=True)],
            "weights": [1.0] * len(RATINGS),
        }
    return _page(
        "StoreComment", "StoreComment", values("to", "from", "itemId", kind="field") | said, **rest
    )


def _sale(published: bool) -> State:
    name = "SellItemForm"
    if published:
        asked = {"category": _numbers(len(CATEGORIES)), "user": {"identity": "id"}}
        return _page(name, name, asked)
    return _page(
        name,
        name,
        values("category", "user", kind="link"),
        pick={"target": {"link": f"{name}.php"}},
        missing="back",
    )


def _offer(published: bool, form: Mapping[str, Any]) -> State:
    random = np.random.default_rng(_SEED)
    offers = drawn_offers(random, _OFFERS)
    days = random.integers(DAYS[0], DAYS[1] + 1, size=_OFFERS)
    columns = {
        "initialPrice": offers.initial,
        "reservePrice": offers.reserve,
        "buyNow": offers.buy_now,
        "quantity": offers.quantity,
        "duration": days,
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return _page(
        "RegisterItem",
        "RegisterItem",
        values("categoryId", "userId", kind="field")
        | {
            "name": {"words": NAME_CHARACTERS},
            "description": {"words": _SHORT_TEXT if published else DESCRIPTION_MOST},
        }
        | values(*columns, kind="row"),
        row={
            "columns": list(columns),
            "rows": [[str(value) for value in row] for row in rows],
            "weights": [1.0] * _OFFERS,
        },
        **form,
    )
