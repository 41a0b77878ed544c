"""Users who follow links: which kind each page is of, and what it has to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tierlab.workloads.own.checks import matches, narrowest_first
from tierlab.workloads.own.pages import OTHER, START, following


def described(
    *start: str, pages: Sequence[str] = (), expect: Mapping[str, str] | None = None
) -> dict[str, Any]:
    return following(start, pages, (), 10, expect or {})


def followed(whole: dict[str, Any], path: str) -> tuple[str, str | None]:
    """The kind of a page that a link led to, as the driver finds it, and what it has to say."""
    states = {state["name"]: state for state in whole["states"]}
    kinds = states[OTHER]["follow"]["states"]
    name = next((name for pattern, name in kinds if matches(pattern, path)), OTHER)
    return name, states[name].get("expect", {}).get("text")


def begun(whole: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The same of each start page."""
    states = {state["name"]: state for state in whole["states"]}
    first = states[whole["home"]]
    names = first["row"]["states"] if "row" in first else [first["name"]]
    return [(name, states[name].get("expect", {}).get("text")) for name in names]


def test_a_page_that_has_to_say_something_is_a_kind() -> None:
    whole = described("/", expect={"/cart": "Your cart"})
    assert followed(whole, "/cart") == ("/cart", "Your cart")
    assert followed(whole, "/") == ("/", None)
    assert followed(whole, "/carts") == (OTHER, None)
    assert begun(whole) == [("/", None)]


def test_each_start_page_has_to_say_what_is_its_own() -> None:
    whole = described("/", "/cart", "/about", expect={"/": "Welcome", "/cart": "Your cart"})
    assert begun(whole) == [("/", "Welcome"), ("/cart", "Your cart"), (START, None)]
    first = whole["states"][0]
    assert first["row"]["rows"] == [[""], ["cart"], ["about"]]
    assert first["row"]["weights"] == [1.0, 1.0, 1.0], "each as likely"


def test_a_kind_that_is_a_start_page_too_is_told() -> None:
    whole = described("/", "/cart", pages=["/cart", "/item/*"])
    assert followed(whole, "/cart") == ("/cart", None)
    assert followed(whole, "/item/7") == ("/item/*", None)
    assert begun(whole) == [(START, None), ("/cart", None)]


def test_a_start_page_is_known_by_its_query_where_a_pattern_says_it() -> None:
    asked = {"/doku.php": "Wiki", "/doku.php?id=shop": "The shop"}
    whole = described("/doku.php?id=start", "/doku.php?id=shop", expect=asked)
    assert begun(whole) == [("/doku.php", "Wiki"), ("/doku.php?id=shop", "The shop")]
    assert followed(whole, "/doku.php") == ("/doku.php", "Wiki")
    for start, text in (("/doku.php?id=start", "Wiki"), ("/doku.php?id=shop", "The shop")):
        whole = described(start, expect=asked)
        assert begun(whole) == [(start, text)]
        assert set(whole["sessions"][0]["transitions"]) == {start, "/doku.php", OTHER}


@pytest.mark.parametrize("of_all", ["*", "/*"])
def test_what_all_pages_have_to_say_makes_no_kind(of_all: str) -> None:
    asked = {of_all: "Shop", "/cart": "Your cart"}
    for start in (["/"], ["/", "/about"]):
        whole = described(*start, pages=["/item/*"], expect=asked)
        assert {text for _, text in begun(whole)} == {"Shop"}
        assert followed(whole, "/x") == (OTHER, "Shop")
        assert followed(whole, "/item/7") == ("/item/*", "Shop")
        assert followed(whole, "/cart") == ("/cart", "Your cart"), "the narrowest"


def test_the_words_for_other_pages_are_no_path() -> None:
    whole = described("/", expect={"*page": "x"})
    assert followed(whole, "/a") == (OTHER, None)
    assert followed(whole, "/a-page") == ("*page", "x")


def test_what_is_expected_is_not_hidden_by_a_wider_kind() -> None:
    whole = described("/", pages=["/a/*", "/a/b/*"], expect={"/a/b/c": "C", "*/z": "Z"})
    assert followed(whole, "/a/b/c") == ("/a/b/c", "C")
    assert followed(whole, "/a/z") == ("*/z", "Z"), "before a kind that is neither wider"
    assert followed(whole, "/a/b/d") == ("/a/b/*", None)
    assert followed(whole, "/a/d") == ("/a/*", None)


def test_narrow_patterns_come_before_wide_ones_and_others_as_they_are() -> None:
    given = ["*", "/b", "/a/*", "/a/b", "/a/b", "/*"]
    assert narrowest_first(given) == ["/b", "/a/b", "/a/*", "/*", "*"]


def test_every_state_has_somewhere_to_go_and_every_row_a_state() -> None:
    whole = described("/", "/b?x=1", pages=["/c"], expect={"/b?x=1": "B", "/d": "D", "*": "all"})
    names = {state["name"] for state in whole["states"]}
    assert names == {START, "/b?x=1", "/c", "/d", OTHER}
    assert set(whole["sessions"][0]["transitions"]) == names
    assert set(whole["states"][0]["row"]["states"]) <= names
