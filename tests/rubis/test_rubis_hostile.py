"""Whatever comes in: no innards, no markup of others, no SQL of others."""

from __future__ import annotations

import pytest

from tests.web import Page

from .databases import Server
from .php import Rubis, rubis

pytestmark = pytest.mark.slow
SCRIPT = "<script>alert('x')</script>\"&"
INJECTIONS = ("' OR '1'='1", "\\' OR 1=1 -- ", "1; DROP TABLE users", "?", ":a")
LOGIN = {"nickname": "user1", "password": "password1"}
PAGES: dict[str, dict[str, object]] = {
    "SearchItemsByCategory": {"category": 1, "page": 0, "nbOfItems": 5},
    "SearchItemsByRegion": {"category": 1, "region": 1, "page": 0, "nbOfItems": 5},
    "ViewItem": {"itemId": 1},
    "ViewUserInfo": {"userId": 1},
    "ViewBidHistory": {"itemId": 1},
    "BuyNowAuth": {"itemId": 1},
    "PutBidAuth": {"itemId": 1},
    "PutCommentAuth": {"itemId": 1, "to": 1},
    "SellItemForm": {"category": 1, "user": 1},
    "StoreBuyNow": {"itemId": 10**9, "userId": 1, "qty": 1, "maxQty": 1},
    "StoreBid": {
        **{"itemId": 10**9, "userId": 1, "minBid": 1, "bid": 2, "maxBid": 3, "qty": 1},
        "maxQty": 1,
    },
}
OPTIONAL = {"page", "nbOfItems", "maxBid"}
GARBAGE = ("x", "-7", "99999999999", "1 OR 1=1", "0x10", "1.567", "../../etc/passwd", "1\n")
CASES = [(page, name) for page, parameters in PAGES.items() for name in parameters]


def assert_no_innards(page: Page) -> None:
    for word in ("Exception", "SQL", "PDO", "Warning", "Fatal", ".php on line", "Stack"):
        assert word not in page.source


def test_what_is_missing_or_no_number_is_a_bad_request(app: Rubis) -> None:
    for page, name in CASES:
        rest = {key: value for key, value in PAGES[page].items() if key != name}
        missing = app.get(page, **rest)
        assert_no_innards(missing)
        if name not in OPTIONAL:
            assert missing.status == 400, (page, name)
            assert f"Sorry, the parameter {name} must be" in missing.text
        for garbage in GARBAGE:
            reply = app.get(page, **(rest | {name: garbage}))
            assert_no_innards(reply)
            assert reply.status == 400, (page, name, garbage)
        listed = app.get(page, **(rest | {f"{name}[]": 1}))
        assert listed.status == (200 if name in OPTIONAL else 400)


@pytest.mark.parametrize("text", [SCRIPT, *INJECTIONS])
def test_texts_are_stored_and_shown_as_they_are(app: Rubis, database: Server, text: str) -> None:
    offer = {
        **{"name": text, "description": text, "initialPrice": 1, "reservePrice": 0, "buyNow": 0},
        **{"duration": 1, "quantity": 1, "userId": 1, "categoryId": 1},
    }
    assert text in app.post("RegisterItem", **offer).text
    item, name = database.rows("SELECT id, name FROM items ORDER BY id DESC LIMIT 1")[0]
    assert name == text
    assert text in app.get("ViewItem", itemId=item).text
    refused = app.post("AboutMe", nickname=text[:20], password=text[:20])
    assert refused.says_sorry()
    assert_no_innards(refused)


def test_too_long_or_undecodable_a_text_is_a_bad_request(app: Rubis) -> None:
    for value in ("x" * 21, "", " ", "a\0b"):
        assert app.post("AboutMe", nickname=value, password="p").status == 400
    status, _ = app.fetch("/rubis/php/AboutMe.php", body="nickname=%FF%FE&password=p")
    assert status == 400
    assert app.post("AboutMe", nickname="\u00fc" * 20, password="p").status == 200


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("RUBIS_PASSWORD", "wrong", "failed, request id"),
        ("RUBIS_FIDELITY", "exact", "RUBIS_FIDELITY must be one of corrected, published"),
    ],
)
def test_a_failure_is_an_error_whose_cause_is_in_the_log_only(
    database: Server, tmp_path, setting: str, value: str, said: str
) -> None:
    with rubis(tmp_path, database, **{setting: value}) as broken:
        page = broken.get("BrowseCategories", request_id="ab12")
        assert page.status == 500
        assert "ERROR" in page.text
        assert_no_innards(page)
        assert said in broken.log
        assert 'request id "ab12"' in broken.log
