"""Every page that reads, against what the database says by itself; and that all is valid HTML."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.web import Page
from tierlab.workloads.rubis.places import CATEGORIES, REGIONS
from tierlab.workloads.rubis.shape import CONTEXT, DOCUMENT_ROOT, STATIC_PATHS

from .databases import Server
from .php import Rubis, mistakes

pytestmark = pytest.mark.slow
LOGIN = {"nickname": "user7", "password": "password7"}


HAS_EVERYTHING = (
    "SELECT MIN(n.buyer_id) FROM buy_now n JOIN old_items p ON p.id = n.item_id"
    " JOIN old_items o ON o.seller = n.buyer_id"
    " JOIN bids b ON b.user_id = n.buyer_id JOIN old_items w ON w.id = b.item_id"
)
"""A user that has bought, sold and won; all bid and sell at this scale."""


def shown_items(page: Page) -> list[int]:
    return [int(link["itemId"]) for link in page.links_to("ViewItem")]


def now() -> str:
    """The moment as the tables have it."""
    return datetime.now(UTC).isoformat(" ", "seconds").removesuffix("+00:00")


def busiest(database: Server, table: str, column: str) -> int:
    """The id that most rows of a table have in a column."""
    return int(
        database.value(
            f"SELECT {column} FROM {table} GROUP BY {column}"
            f" ORDER BY COUNT(*) DESC, {column} LIMIT 1"
        )
    )


def read_pages(app: Rubis, database: Server) -> dict[str, Page]:
    """One of each page that reads, as its users meet it."""
    user = busiest(database, "comments", "to_user_id")
    several = database.value(
        "SELECT MIN(id) FROM items WHERE quantity > 1 AND nb_of_bids > 2 AND buy_now > 0"
    )
    seller = database.value("SELECT seller FROM items WHERE id = %s", several)
    me = busiest(database, "bids", "user_id")
    return {
        "BrowseCategories": app.get("BrowseCategories"),
        "BrowseCategories, region": app.get("BrowseCategories", region=REGIONS[3]),
        "BrowseCategories, sale": app.post("BrowseCategories", **LOGIN),
        "BrowseRegions": app.get("BrowseRegions"),
        "SearchItemsByCategory": app.get("SearchItemsByCategory", category=1, page=1),
        "SearchItemsByRegion": app.get("SearchItemsByRegion", category=1, region=2),
        "ViewItem": app.get("ViewItem", itemId=several),
        "ViewItem, old": app.get("ViewItem", itemId=1),
        "ViewUserInfo": app.get("ViewUserInfo", userId=user),
        "ViewBidHistory": app.get("ViewBidHistory", itemId=several),
        "BuyNowAuth": app.get("BuyNowAuth", itemId=several),
        "BuyNow": app.post("BuyNow", itemId=several, **LOGIN),
        "PutBidAuth": app.get("PutBidAuth", itemId=several),
        "PutBid": app.post("PutBid", itemId=several, **LOGIN),
        "PutCommentAuth": app.get("PutCommentAuth", itemId=several, to=seller),
        "PutComment": app.post("PutComment", itemId=several, to=seller, **LOGIN),
        "SellItemForm": app.get("SellItemForm", category=1, user=7),
        "AboutMe": app.post("AboutMe", nickname=f"user{me}", password=f"password{me}"),
    }


@pytest.mark.parametrize("form", ["app", "published"])
def test_every_page_that_reads_is_valid_html(
    form: str, database: Server, request: pytest.FixtureRequest
) -> None:
    pages = read_pages(request.getfixturevalue(form), database)
    scripts = {file.stem for file in (DOCUMENT_ROOT / "rubis" / "php").glob("*.php")}
    writing = {"RegisterUser", "StoreBid", "StoreBuyNow", "StoreComment", "RegisterItem"}
    assert {name.split(",")[0] for name in pages} == scripts - writing
    for name, page in pages.items():
        assert page.status == 200, name
        assert not page.says_sorry(), name
        assert page.images[0] == f"{CONTEXT}/images/logo.png"
    assert mistakes(*pages.values()) == ""


def test_static_pages_are_valid_and_have_the_header_of_the_others(app: Rubis) -> None:
    header = app.get("BrowseRegions").source.partition("<h1>")[0].partition("<header>")[2]
    for path in STATIC_PATHS:
        if path.endswith(".html"):
            page = app.open(path)
            assert header in page.source
            assert mistakes(page) == ""
        else:
            status, image = app.fetch(path)
            assert status == 200
            assert image.startswith(b"\x89PNG")
    options = app.open(f"{CONTEXT}/register.html").source
    assert [name for name in REGIONS if f'<option value="{name}">' in options] == list(REGIONS)


def test_categories_lead_to_lists_to_regions_or_to_sale(app: Rubis, database: Server) -> None:
    plain = app.get("BrowseCategories").links_to("SearchItemsByCategory")
    assert [link["categoryName"] for link in plain] == list(CATEGORIES)
    region = database.value("SELECT id FROM regions WHERE name = %s", "Lyon")
    of_region = app.get("BrowseCategories", region="Lyon").links_to("SearchItemsByRegion")
    assert {int(link["region"]) for link in of_region} == {region}
    assert len(of_region) == len(CATEGORIES)
    to_sell = app.post("BrowseCategories", **LOGIN).links_to("SellItemForm")
    assert {link["user"] for link in to_sell} == {"7"}
    regions = app.get("BrowseRegions").links_to("BrowseCategories")
    assert [link["region"] for link in regions] == list(REGIONS)


@pytest.mark.parametrize("with_region", [False, True])
def test_a_list_is_paged_those_that_end_first_first(
    app: Rubis, database: Server, with_region: bool
) -> None:
    asked = {"category": 3, "categoryName": "x"}
    where = f"i.category = 3 AND i.end_date > '{now()}'"
    page_name = "SearchItemsByCategory"
    if with_region:
        region = database.value(
            "SELECT u.region FROM items i JOIN users u ON u.id = i.seller WHERE i.category = 3"
            " GROUP BY u.region ORDER BY COUNT(*) DESC LIMIT 1"
        )
        where += f" AND u.region = {region}"
        asked["region"] = region
        page_name = "SearchItemsByRegion"
    expected = [
        row[0]
        for row in database.rows(
            "SELECT i.id FROM items i JOIN users u ON u.id = i.seller"
            f" WHERE {where} ORDER BY i.end_date, i.id"
        )
    ]
    rows = max(1, min(50, len(expected) // 2))
    seen: list[int] = []
    page = app.get(page_name, nbOfItems=rows, **asked)
    while shown_items(page):
        seen += shown_items(page)
        ahead = [link for link in page.links_to(page_name) if int(link["page"]) * rows == len(seen)]
        if not ahead:
            break
        page = app.get(page_name, **ahead[0])
    assert seen == expected


def test_an_empty_list_is_sorry_as_published_only(app: Rubis, published: Rubis) -> None:
    asked = {"category": 1, "page": 1_000}
    assert not app.get("SearchItemsByCategory", **asked).says_sorry()
    assert published.get("SearchItemsByCategory", **asked).says_sorry()


def test_an_item_shows_its_bids_its_seller_and_its_offers(app: Rubis, database: Server) -> None:
    row = database.rows(
        "SELECT i.id, i.name, i.description, i.max_bid, i.nb_of_bids, i.buy_now, i.seller,"
        " u.nickname FROM items i JOIN users u ON u.id = i.seller"
        " WHERE i.quantity = 1 AND i.nb_of_bids > 2 AND i.buy_now > 0 ORDER BY i.id LIMIT 1"
    )[0]
    item, name, description, greatest, bids, buy_now, seller, nickname = row
    page = app.get("ViewItem", itemId=item)
    for text in (name, description, f"Price now: {greatest}", f"{bids} bids", nickname):
        assert text in page.text
    assert f"for {buy_now}" in page.text
    assert page.links_to("ViewUserInfo") == [{"userId": str(seller)}]
    assert page.links_to("PutCommentAuth") == [{"to": str(seller), "itemId": str(item)}]
    for link in ("ViewBidHistory", "PutBidAuth", "BuyNowAuth"):
        assert page.links_to(link) == [{"itemId": str(item)}]


def test_of_several_pieces_the_price_is_the_least_bid_that_gets_one(
    app: Rubis, database: Server
) -> None:
    item, quantity = database.rows(
        "SELECT id, quantity FROM items WHERE quantity > 2 AND nb_of_bids > 9 ORDER BY id LIMIT 1"
    )[0]
    best = database.rows("SELECT bid, qty FROM bids WHERE item_id = %s ORDER BY bid DESC", item)
    pieces = [bid for bid, count in best for _ in range(count)]
    page = app.get("ViewItem", itemId=item)
    assert f"Price now: {pieces[quantity - 1]}" in page.text


def test_an_old_item_is_shown_without_offers(app: Rubis, database: Server) -> None:
    item, name = database.rows("SELECT id, name FROM old_items ORDER BY id LIMIT 1")[0]
    page = app.get("ViewItem", itemId=item)
    assert name in page.text
    assert "The auction is over." in page.text
    assert not page.links_to("PutBidAuth")
    assert app.post("PutBid", itemId=item, **LOGIN).says_sorry()
    assert app.get("ViewItem", itemId=10**9).says_sorry()


@pytest.mark.parametrize("form", ["app", "published"])
def test_bids_and_comments_come_with_who_made_them(
    form: str, database: Server, request: pytest.FixtureRequest
) -> None:
    app = request.getfixturevalue(form)
    item = busiest(database, "bids", "item_id")
    bids = database.rows(
        "SELECT b.user_id, u.nickname, b.bid FROM bids b JOIN users u ON u.id = b.user_id"
        " WHERE b.item_id = %s ORDER BY b.date DESC, b.id DESC",
        item,
    )
    page = app.get("ViewBidHistory", itemId=item)
    bidders = [int(link["userId"]) for link in page.links_to("ViewUserInfo")]
    if form == "app":
        assert bidders == [row[0] for row in bids]
    assert sorted(bidders) == sorted(row[0] for row in bids)
    assert all(nickname in page.text and str(bid) in page.text for _, nickname, bid in bids)
    user = busiest(database, "comments", "to_user_id")
    said = database.rows(
        "SELECT from_user_id, comment FROM comments WHERE to_user_id = %s",
        user,
    )
    page = app.get("ViewUserInfo", userId=user)
    authors = [int(link["userId"]) for link in page.links_to("ViewUserInfo")]
    assert sorted(authors) == sorted(row[0] for row in said)
    assert all(comment in page.text for _, comment in said)


@pytest.mark.parametrize("form", ["app", "published"])
def test_about_me_lists_what_i_bid_on_won_bought_sell_and_sold(
    form: str, database: Server, request: pytest.FixtureRequest
) -> None:
    app = request.getfixturevalue(form)
    me = database.value(HAS_EVERYTHING)
    page = app.post("AboutMe", nickname=f"user{me}", password=f"password{me}")
    expected: list[int] = []
    open_now = f"i.end_date > '{now()}'"
    for table, join, condition in (
        ("items", "JOIN bids b ON b.item_id = i.id", f"{open_now} AND b.user_id = %s"),
        ("old_items", "JOIN bids b ON b.item_id = i.id", "b.user_id = %s"),
        ("items", "JOIN buy_now b ON b.item_id = i.id", "b.buyer_id = %s"),
        ("old_items", "JOIN buy_now b ON b.item_id = i.id", "b.buyer_id = %s"),
        ("items", "", f"{open_now} AND i.seller = %s"),
        ("old_items", "", "i.seller = %s"),
    ):
        found = database.rows(
            f"SELECT DISTINCT i.id, i.end_date FROM {table} i {join} WHERE {condition}"
            " ORDER BY i.end_date, i.id",
            me,
        )
        assert found or (table, "buy_now" in join) == ("items", True)
        expected += [row[0] for row in found][: 25 if form == "app" else None]
    assert sorted(shown_items(page)) == sorted(expected)
    assert app.post("AboutMe", nickname=f"user{me}", password="wrong").says_sorry()


def test_the_bid_form_suggests_more_than_the_price(app: Rubis, database: Server) -> None:
    item, greatest = database.rows(
        "SELECT id, max_bid FROM items WHERE quantity = 1 AND nb_of_bids > 0 ORDER BY id LIMIT 1"
    )[0]
    page = app.post("PutBid", itemId=item, **LOGIN)
    form = page.form("StoreBid")
    assert form.method == "post"
    assert Decimal(form.fields["minBid"]) == greatest + 1
    assert form.fields["userId"] == "7"
    for raised in range(1, 11):
        assert f'<option value="{greatest + 1 + raised}">' in page.source
