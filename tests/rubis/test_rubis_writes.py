"""Every page that writes: the rows are read back, and nothing else changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.web import Page

from .databases import Server
from .php import Rubis, mistakes

pytestmark = pytest.mark.slow
TABLES = ("users", "old_items", "items", "bids", "comments", "buy_now")
NEW_USER = {
    **{"firstname": "Ada", "lastname": "L", "email": "ada@rubis.example"},
    **{"password": "pw", "region": "Oslo"},
}


def sizes(database: Server) -> dict[str, int]:
    return {table: database.value(f"SELECT COUNT(*) FROM {table}") for table in TABLES}


def grown(before: dict[str, int], **by: int) -> dict[str, int]:
    return {table: count + by.get(table, 0) for table, count in before.items()}


def is_now(moment: datetime) -> bool:
    return abs(moment - datetime.now(UTC).replace(tzinfo=None)) < timedelta(seconds=60)


def valid(page: Page) -> Page:
    assert page.status == 200
    assert mistakes(page) == ""
    return page


def an_item(database: Server, quantity: int, nth: int = 0) -> int:
    """An item for sale with a bid, which no other test has."""
    return int(
        database.rows(
            "SELECT id FROM items WHERE quantity = %s AND nb_of_bids > 0 ORDER BY id DESC",
            quantity,
        )[nth][0]
    )


def test_registration_adds_a_user_once(app: Rubis, database: Server) -> None:
    before = sizes(database)
    page = valid(app.post("RegisterUser", nickname="ada", **NEW_USER))
    row = database.rows(
        "SELECT u.id, firstname, lastname, email, password, rating, balance, r.name, creation_date"
        " FROM users u JOIN regions r ON r.id = u.region WHERE nickname = 'ada'"
    )[0]
    assert row[1:8] == ("Ada", "L", "ada@rubis.example", "pw", 0, 0, "Oslo")
    assert is_now(row[8])
    assert f"User id: {row[0]}" in page.text
    assert app.post("RegisterUser", nickname="ada", **NEW_USER).says_sorry()
    elsewhere = NEW_USER | {"region": "Nowhere"}
    assert app.post("RegisterUser", nickname="bob", **elsewhere).says_sorry()
    assert sizes(database) == grown(before, users=1)


def test_a_bid_is_stored_and_raises_the_price(app: Rubis, database: Server) -> None:
    item = an_item(database, 1)
    asked = "SELECT max_bid, nb_of_bids FROM items WHERE id = %s"
    greatest, bids = database.rows(asked, item)[0]
    before = sizes(database)
    form = app.post("PutBid", itemId=item, nickname="user3", password="password3").form("StoreBid")
    fields = form.fields | {"bid": greatest + 5, "maxBid": greatest + 9}
    valid(app.post("StoreBid", **fields))
    user, kept, bid, most, quantity, date = database.rows(
        "SELECT user_id, item_id, bid, max_bid, qty, date FROM bids ORDER BY id DESC LIMIT 1"
    )[0]
    assert (user, kept, bid, most, quantity) == (3, item, greatest + 5, greatest + 9, 1)
    assert is_now(date)
    assert database.rows(asked, item) == [(greatest + 5, bids + 1)]
    # Who was slower bids less: the bid counts, and the price stays.
    valid(app.post("StoreBid", **(fields | {"bid": greatest + 2, "maxBid": ""})))
    assert database.rows(asked, item) == [(greatest + 5, bids + 2)]
    assert app.post("StoreBid", **(fields | {"bid": greatest})).says_sorry()
    assert app.post("StoreBid", **(fields | {"maxBid": greatest + 4})).says_sorry()
    assert sizes(database) == grown(before, bids=2)


def test_bids_at_the_same_time_are_all_counted(app: Rubis, database: Server) -> None:
    item = an_item(database, 1, nth=1)
    asked = "SELECT max_bid, nb_of_bids FROM items WHERE id = %s"
    greatest, bids = database.rows(asked, item)[0]

    def bid(more: int) -> int:
        fields = {"itemId": item, "userId": 1, "minBid": 1, "maxQty": 1, "qty": 1}
        return app.post("StoreBid", bid=greatest + more, **fields).status

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(bid, range(1, 25))) == {200}
    assert database.rows(asked, item) == [(greatest + 24, bids + 24)]
    assert database.value("SELECT COUNT(*) FROM bids WHERE item_id = %s", item) == bids + 24


def test_what_is_bought_is_taken_away_and_the_last_piece_ends_the_auction(
    app: Rubis, database: Server
) -> None:
    item = an_item(database, 3)
    before = sizes(database)
    form = app.post("BuyNow", itemId=item, nickname="user4", password="password4")
    fields = valid(form).form("StoreBuyNow").fields
    assert fields["maxQty"] == "3"
    valid(app.post("StoreBuyNow", **(fields | {"qty": 2})))
    buyer, bought, quantity, date = database.rows(
        "SELECT buyer_id, item_id, qty, date FROM buy_now ORDER BY id DESC LIMIT 1"
    )[0]
    assert (buyer, bought, quantity) == (4, item, 2)
    assert is_now(date)
    asked = "SELECT quantity, end_date FROM items WHERE id = %s"
    assert database.rows(asked, item)[0][0] == 1
    assert app.post("StoreBuyNow", **(fields | {"qty": 2})).says_sorry()
    assert database.rows(asked, item)[0][0] == 1
    valid(app.post("StoreBuyNow", **fields))
    left, end = database.rows(asked, item)[0]
    assert left == 0
    assert is_now(end)
    assert "The auction is over." in app.get("ViewItem", itemId=item).text
    assert app.post("BuyNow", itemId=item, nickname="user4", password="password4").says_sorry()
    assert sizes(database) == grown(before, buy_now=2)


def test_the_last_piece_is_sold_once_however_many_want_it(app: Rubis, database: Server) -> None:
    item = an_item(database, 1, nth=2)

    def buy(user: int) -> bool:
        return not app.post("StoreBuyNow", itemId=item, userId=user, qty=1, maxQty=1).says_sorry()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(buy, range(1, 13))) == 1
    assert database.value("SELECT COUNT(*) FROM buy_now WHERE item_id = %s", item) == 1


def test_a_comment_is_stored_and_rates_the_user(app: Rubis, database: Server) -> None:
    item = an_item(database, 1, nth=3)
    seller = database.value("SELECT seller FROM items WHERE id = %s", item)
    rating = database.value("SELECT rating FROM users WHERE id = %s", seller)
    before = sizes(database)
    page = app.post("PutComment", itemId=item, to=seller, nickname="user5", password="password5")
    fields = page.form("StoreComment").fields | {"rating": -3, "comment": "<b>late</b> & torn"}
    valid(app.post("StoreComment", **fields))
    stored = database.rows(
        "SELECT from_user_id, to_user_id, item_id, rating, comment, date"
        " FROM comments ORDER BY id DESC LIMIT 1"
    )[0]
    assert stored[:5] == (5, seller, item, -3, "<b>late</b> & torn")
    assert is_now(stored[5])
    assert database.value("SELECT rating FROM users WHERE id = %s", seller) == rating - 3
    shown = valid(app.get("ViewUserInfo", userId=seller))
    assert "<b>late</b> & torn" in shown.text
    assert app.post("StoreComment", **(fields | {"to": 10**9})).says_sorry()
    assert app.post("StoreComment", **(fields | {"rating": 4})).status == 400
    assert sizes(database) == grown(before, comments=1)


def test_an_item_is_for_sale_from_now_on(app: Rubis, database: Server) -> None:
    before = sizes(database)
    fields = app.get("SellItemForm", category=5, user=6).form("RegisterItem").fields
    offer = {"name": "a thing", "description": "of use", "initialPrice": "10.5", "duration": 3}
    valid(app.post("RegisterItem", **(fields | offer | {"reservePrice": 12, "quantity": 2})))
    row = database.rows(
        "SELECT name, description, initial_price, reserve_price, buy_now, quantity, nb_of_bids,"
        " max_bid, seller, category, start_date, end_date, id FROM items ORDER BY id DESC LIMIT 1"
    )[0]
    prices = (Decimal("10.50"), 12, 0)
    assert row[:10] == ("a thing", "of use", *prices, 2, 0, 0, 6, 5)
    assert is_now(row[10])
    assert row[11] - row[10] == timedelta(days=3)
    assert row[12] > database.value("SELECT MAX(id) FROM old_items")
    assert "Price now: 10.50" in app.get("ViewItem", itemId=row[12]).text
    assert sizes(database) == grown(before, items=1)
