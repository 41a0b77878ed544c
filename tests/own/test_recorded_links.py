"""From a recording to users: which of a reply's ids, tokens and parts they take, and which not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.own.test_recorded import described, entry
from tests.own.test_recorded_headers import visit
from tierlab.workloads.own.kept_users import without_secrets

Taken = tuple[list[dict[str, Any]], list[dict[str, Any]]]
ORDERS = [{"id": 101, "customer": {"id": 9}}, {"id": 102, "customer": {"id": 9}}]


def taken(folder: Path, text: str, target: str, first: str = "/") -> Taken:
    """What is taken of a reply, and where users who got it go."""
    page = entry({"url": f"http://h{first}"}, {"content": {"mimeType": "text/html", "text": text}})
    before, after = visit(folder, page, entry({"url": f"http://h{target}"}))
    return before["extract"], after["rest"]


def test_an_id_is_drawn_of_numbers_and_never_of_words(tmp_path: Path) -> None:
    links = '<a href="/items/7"><a href="/items/new"><a href="/items/9">'
    (extract,), rest = taken(tmp_path, links, "/items/7")
    assert (extract["after"], extract["which"], extract["shape"]) == ("/items/", "any", "digits")
    assert rest == [{"constant": "items/"}, {"remembered": extract["name"]}]


def test_a_token_is_drawn_of_tokens(tmp_path: Path) -> None:
    links = '<a href="/to/3f9a8b7c"><a href="/to/new">'
    (extract,), _ = taken(tmp_path, links, "/to/3f9a8b7c")
    assert (extract["after"], extract["shape"]) == ("/to/", "token")


@pytest.mark.parametrize("target", ["/?page=7", "/list?page=7"])
def test_a_number_of_a_query_is_drawn_of_numbers(tmp_path: Path, target: str) -> None:
    links = f'<a href="{target}"><a href="{target[:-1]}last">'
    (extract,), _ = taken(tmp_path, links, target)
    assert (extract["which"], extract["shape"]) == ("any", "digits")


@pytest.mark.parametrize(
    ("link", "target", "after"),
    [
        ('<a href="/7">', "/7", '="/'),
        ("<a href='/7'>", "/7", "='/"),
        ("<a href=/7>", "/7", "=/"),
        ('{"url": "/7"}', "/7", ': "/'),
        ('["/7"]', "/7", '"/'),
        ('<a href="/how-to-bake-sourdough-bread">', "/how-to-bake-sourdough-bread", '="/'),
    ],
)
def test_the_first_segment_of_a_path_is_that_of_a_link(
    tmp_path: Path, link: str, target: str, after: str
) -> None:
    (extract,), _ = taken(tmp_path, f"<div>a</div>{link}</a>", target)
    assert extract["after"] == after


@pytest.mark.parametrize("target", ["/2024/05/x", "/blog/2024/05/x", "/blog/2024/05/17/x"])
def test_a_date_stays_whole(tmp_path: Path, target: str) -> None:
    links = f'<div>a</div><a href="{target}"><a href="{target.replace("2024", "2023")}">'
    assert taken(tmp_path, links, target) == ([], [{"constant": target[1:]}])


def test_what_the_visit_began_with_stays(tmp_path: Path) -> None:
    links = '<a href="/eshop-v2/cart"><a href="/eshop-v1/cart">'
    extracts, rest = taken(tmp_path, links, "/eshop-v2/cart", first="/eshop-v2/")
    assert (extracts, rest[0]) == ([], {"secret": "eshop-v2"})


@pytest.mark.parametrize(
    ("form", "after"),
    [
        ({"separators": (",", ":")}, ',{"id":'),
        ({}, ', {"id": '),
        ({"indent": 1}, ',\n {\n  "id": '),
    ],
)
def test_an_id_of_a_list_is_none_of_what_its_objects_have_within(
    tmp_path: Path, form: dict[str, Any], after: str
) -> None:
    text = json.dumps(ORDERS, **form)
    (extract,), _ = taken(tmp_path, text, "/orders/102")
    assert (extract["after"], extract["which"]) == (after, "any")
    (extract,), _ = taken(tmp_path, text, "/orders/101")
    assert (extract["after"], extract["which"]) == (after[after.index('"') :], "first")


def test_an_id_that_is_of_no_telling_place_stays_as_it_was(tmp_path: Path) -> None:
    assert taken(tmp_path, json.dumps(ORDERS), "/customers/9") == (
        [],
        [{"constant": "customers/9"}],
    )


def test_an_id_of_objects_that_are_alike_is_any_of_theirs(tmp_path: Path) -> None:
    (extract,), _ = taken(tmp_path, '[{"id":101},{"id":102}]', "/orders/102")
    assert (extract["after"], extract["which"]) == ('"id":', "any")


def test_styles_with_a_hash_in_their_address_are_fetched_and_not_kept(tmp_path: Path) -> None:
    """Whether it is a hash or a token, nobody can tell."""
    file, hashed = tmp_path / "v.har", "/a.css?v=8f3a9c0d1e2b"
    gone = entry({"url": "http://h/no.png?id=8f3a9c0d1e2b"}, {"status": 404})
    entries = [
        entry({"url": "http://h/"}),
        entry({"url": f"http://h{hashed}"}),
        entry({"url": "http://h/b.css?v=1"}),
        gone,
    ]
    file.write_text(json.dumps({"log": {"entries": entries}}))
    whole = described(file)
    (page,) = whole["states"]
    assert page["resources"] == [hashed, "/b.css?v=1"]
    assert page["images"] == {"except": ["/no.png?id=8f3a9c0d1e2b"]}
    kept = without_secrets(whole)
    assert "8f3a9c0d1e2b" not in json.dumps(kept)
    assert kept["states"][0]["resources"] == ["/b.css?v=1"]
