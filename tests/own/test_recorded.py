"""From a recording to users: what changes is taken from replies, and secrets stay secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.own.made_har import PORT, THINK_S, made_visit
from tests.own.shop import PASSWORD
from tierlab.errors import UserError
from tierlab.exchange.har import read_har
from tierlab.workloads.own.kept_users import HIDDEN, without_secrets
from tierlab.workloads.own.recorded import recorded
from tierlab.workloads.own.steps import steps
from tierlab.workloads.sessions.delay import think


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("har") / "visit.har"
    made_visit(file)
    return file


def described(visit: Path, **more: Any) -> dict[str, Any]:
    return recorded([visit], more.get("expect", {}), own_think=more.get("own_think", True))


def state(whole: dict[str, Any], interaction: str) -> dict[str, Any]:
    return next(each for each in whole["states"] if each["interaction"] == interaction)


def test_steps_are_in_order_with_redirections_and_styles_in_them(visit: Path) -> None:
    whole = described(visit)
    assert [each["interaction"] for each in whole["states"]] == [
        "GET /",
        "POST /login",
        "GET /search",
        "GET /items/{id}",
        "POST /api/basket",
        "GET /basket",
        "POST /orders",
    ]
    assert state(whole, "GET /")["resources"] == ["/style.css"]
    (session,) = whole["sessions"]
    assert session["transitions"]["7 POST /orders"] == [("End", 1.0)]
    assert state(whole, "GET /basket")["delay"] == think(round((THINK_S - 0.01) * 1e9))


def test_tokens_and_ids_are_taken_from_where_they_were_handed_out(visit: Path) -> None:
    whole = described(visit)
    (token,) = state(whole, "GET /")["extract"]
    assert token["field"] == "csrf"
    (item,) = state(whole, "GET /search")["extract"]
    assert (item["after"], item["which"]) == ("/items/", "any")
    put = state(whole, "POST /api/basket")
    assert put["headers"] == [{"name": "X-CSRF-Token", "from": {"remembered": token["name"]}}]
    assert put["body"]["parts"][1] == {"remembered": item["name"]}
    assert state(whole, "GET /items/{id}")["rest"][1] == {"remembered": item["name"]}


def test_no_secret_is_in_what_is_kept(visit: Path) -> None:
    kept = json.dumps(without_secrets(described(visit)))
    assert PASSWORD in json.dumps(described(visit)), "users have to log in"
    assert PASSWORD not in kept
    assert HIDDEN in kept
    for exchange in read_har(visit):
        for name, value in exchange.headers:
            if name in ("Cookie", "X-CSRF-Token"):
                assert value.partition("=")[2] not in kept or not value.partition("=")[2]
                assert value not in kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "Bearer abc"),
        ("X-Api-Key", "k-1"),
        ("X-Anything", "f3a9c1d27b6e4f58"),
    ],
)
def test_headers_that_are_secrets_are_hidden(tmp_path: Path, name: str, value: str) -> None:
    file = tmp_path / "v.har"
    file.write_text(json.dumps(har({"headers": [{"name": name, "value": value}]})))
    assert value.rpartition(" ")[2] in json.dumps(described(file))
    assert value.rpartition(" ")[2] not in json.dumps(without_secrets(described(file)))


@pytest.mark.parametrize(
    "target",
    ["/x?token=abc", "/x?password=abc", "/x?sid=abc", "/x?q=eyJhbGciOiJIUzI1NiJ9.e30.abc"],
)
def test_queries_that_are_secrets_are_hidden(tmp_path: Path, target: str) -> None:
    file = tmp_path / "v.har"
    file.write_text(json.dumps(har({"url": f"http://h{target}"})))
    assert target.partition("=")[2] not in json.dumps(without_secrets(described(file)))


def test_what_was_searched_for_is_drawn_again(tmp_path: Path) -> None:
    file = tmp_path / "v.har"
    entries = [entry({"url": f"http://h/find?q={word}&do=list"}) for word in ("red", "blue")]
    file.write_text(json.dumps({"log": {"entries": entries}}))
    sources = [each["rest"] for each in described(file)["states"]]
    assert {"choice": ["red", "blue"]} in sources[0]
    assert {"choice": ["red", "blue"]} in sources[1]
    assert "do=list" in sources[0][-1]["constant"]


@pytest.mark.parametrize(
    ("cookie", "header", "source"),
    [
        ("3f9a8b7c6d5e4f3a2b1c", "3f9a8b7c6d5e4f3a2b1c", "cookie"),
        ("eyJpdiI6abc12%3D", "eyJpdiI6abc12=", "cookie_decoded"),
        ("eyJpdiI6abc12%3D", "eyJpdiI6abc12%3D", "cookie"),
    ],
)
def test_a_token_sent_as_a_cookie_and_beside_it_is_the_cookie_s(
    tmp_path: Path, cookie: str, header: str, source: str
) -> None:
    cookies = [{"name": "XSRF", "value": cookie}]
    headers = [{"name": "X-XSRF-Token", "value": header}]
    file = tmp_path / "v.har"
    file.write_text(json.dumps(har({"cookies": cookies, "headers": headers})))
    (only,) = described(file)["states"]
    assert only["headers"] == [{"name": "X-XSRF-Token", "from": {source: "XSRF"}}]


def test_other_hosts_failures_and_what_is_no_page_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "v.har"
    entries = [
        entry({"url": "http://h/"}),
        entry({"url": "http://elsewhere/x"}),
        entry({"url": "http://h/gone"}, {"status": 404}),
        entry({"url": "http://h/cut"}, {"status": 0}),
        entry({"url": "data:text/html,x"}),
        entry({"url": "http://h/", "method": "OPTIONS"}),
    ]
    file.write_text(json.dumps({"log": {"entries": entries}}))
    assert [each["interaction"] for each in described(file)["states"]] == ["GET /"]


@pytest.mark.parametrize(
    ("status", "method", "asked_for"),
    [
        (307, "POST", "POST"),
        (308, "PUT", "PUT"),
        (302, "DELETE", "DELETE"),
        (302, "POST", "GET"),
        (303, "PUT", "GET"),
    ],
)
def test_what_a_reply_sent_the_browser_to_is_of_the_same_step(
    tmp_path: Path, status: int, method: str, asked_for: str
) -> None:
    file = tmp_path / "v.har"
    sent = {"status": status, "redirectURL": "/there"}
    wrong = "GET" if asked_for != "GET" else "POST"
    for by, count in ((asked_for, 1), (wrong, 2)):
        entries = [
            entry({"url": "http://h/here", "method": method}, sent),
            entry({"url": "http://h/there", "method": by}),
        ]
        file.write_text(json.dumps({"log": {"entries": entries}}))
        found = steps(read_har(file), str(file))
        assert len(found) == count, by
        assert found[0].exchange.method == method


@pytest.mark.parametrize("kind", ["image", ""])
def test_a_picture_that_is_elsewhere_is_fetched_once_by_way_of_where_the_page_has_it(
    tmp_path: Path, kind: str
) -> None:
    def picture(target: str, status: int, location: str = "") -> dict[str, Any]:
        reply = {"status": status, "redirectURL": location, "content": {"mimeType": "image/png"}}
        return entry({"url": f"http://h{target}"}, reply) | {"_resourceType": kind}

    file = tmp_path / "v.har"
    entries = [
        entry({"url": "http://h/"}),
        picture("/a.png", 302, "/media/1"),
        picture("/b.png", 301, "http://h/media/2"),
        picture("/c.png", 302, "http://elsewhere/c"),
        picture("/gone.png", 302, "/media/gone"),
        entry({"url": "http://h/api"}) | {"_resourceType": "xhr"},
        picture("/media/2", 307, "/files/2.png"),
        picture("/media/1", 200),
        picture("/media/gone", 404),
        picture("/files/2.png", 200),
        picture("/media/1", 200),
    ]
    file.write_text(json.dumps({"log": {"entries": entries}}))
    page, program = steps(read_har(file), str(file))
    assert page.resources == ("/a.png", "/b.png", "/c.png")
    assert page.failed == ("/gone.png",)
    assert program.resources == ("/media/1",), "it was asked for by itself, too"


def test_a_picture_that_failed_is_not_looked_for_on_the_pages_of_the_visit(tmp_path: Path) -> None:
    def picture(target: str, status: int) -> dict[str, Any]:
        return entry({"url": f"http://h{target}"}, {"status": status}) | {"_resourceType": "image"}

    file = tmp_path / "v.har"
    entries = [
        entry({"url": "http://h/"}),
        entry({"url": "http://h/api"}) | {"_resourceType": "xhr"},
        picture("/gone.png", 404),
        picture("/later.png", 404),
        picture("/gone.png?token=abc", 403),
        entry({"url": "http://h/upload"}),
        picture("/later.png", 200),
        picture("/tries.png", 503),
        picture("/tries.png", 200),
    ]
    file.write_text(json.dumps({"log": {"entries": entries}}))
    whole = described(file)
    assert "token=abc" in json.dumps(whole), "the driver is to know what failed"
    page, program, upload = without_secrets(whole)["states"]
    assert page["images"] == {"except": ["/gone.png"]}, "a program had asked before the picture"
    assert program["images"] == {"except": ["/gone.png", "/later.png"]}
    assert upload["images"] == {"except": ["/gone.png"]}
    assert upload["resources"] == ["/later.png", "/tries.png"]


def test_a_page_that_had_not_changed_sends_nobody_on(tmp_path: Path) -> None:
    file = tmp_path / "v.har"
    entries = [entry({"url": "http://h/"}, {"status": 304}), entry({"url": "http://h/"})]
    file.write_text(json.dumps({"log": {"entries": entries}}))
    assert len(steps(read_har(file), str(file))) == 2


def test_a_request_to_no_host_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "v.har"
    entries = [entry({"url": "http:x"}), entry({"url": "http://h/"})]
    file.write_text(json.dumps({"log": {"entries": entries}}))
    assert [each["interaction"] for each in described(file)["states"]] == ["GET /"]


def test_a_page_has_to_say_what_the_narrowest_pattern_asks_for(visit: Path) -> None:
    whole = described(visit, expect={"*": "Shop", "/basket": "Basket"})
    assert state(whole, "GET /basket")["expect"]["text"] == "Basket"
    assert state(whole, "GET /")["expect"]["text"] == "Shop"


def test_a_pattern_that_no_recorded_page_matches_is_refused(visit: Path) -> None:
    with pytest.raises(UserError) as raised:
        described(visit, expect={"/basket": "Basket", "/items/7": "Seven"})
    said = str(raised.value)
    assert said.startswith(f'{visit}: has no page that is "/items/7", as expect has it; name one')
    assert "/items/{id}" in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no HAR file: it is empty; save one from a browser's developer tools"),
        ("\0\0\0", "is no HAR file: it has nothing but NUL bytes"),
        ("<!DOCTYPE html><html>", "is no HAR file: it is an HTML page"),
        ("<?xml version='1.0'?><log/>", "is no HAR file: it is XML"),
        ("GET / 200", "is no HAR file: it is no JSON (line 1, column 1)"),
        ("[]", "is no HAR file: it is JSON without log.entries"),
        ('{"constants": {}, "events": []}', "log.entries (its keys: constants, events)"),
        ('{"log": {"version": "1.2", "entr', "it is cut, or damaged, before the end of its first"),
        ('{"log": {"entries": [{"time": 1, "req', "it is cut, or damaged, before the end of its"),
        ('{"log": {"entries": []}}', "has no requests; record some pages first"),
        ('{"log": {"entries": [{}]}}', "request 1 is not of HAR's form"),
        (json.dumps({"log": {"entries": [{"request": 1, "response": 2}]}}), "request 1 is not of"),
        ("[" * 100_000, "is no HAR file"),
    ],
)
def test_what_is_no_recording_is_told_in_a_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = tmp_path / "v.har"
    file.write_text(text)
    with pytest.raises(UserError) as raised:
        described(file)
    assert sentence in str(raised.value)
    assert str(file) in str(raised.value)


def test_a_recording_of_nothing_but_failures_is_told(tmp_path: Path) -> None:
    file = tmp_path / "v.har"
    file.write_text(json.dumps({"log": {"entries": [entry({}, {"status": 500})]}}))
    with pytest.raises(UserError, match="has no page"):
        described(file)


def entry(request: dict[str, Any], response: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "time": 1,
        "request": {"method": "GET", "url": f"http://h:{PORT}/", "headers": []} | request,
        "response": {"status": 200, "redirectURL": "", "content": {"mimeType": "text/html"}}
        | (response or {}),
    }


def har(request: dict[str, Any]) -> dict[str, Any]:
    return {"log": {"entries": [entry(request)]}}
