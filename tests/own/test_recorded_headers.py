"""From a recording to users: which headers they send, and whose values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.own.test_recorded import described, entry

PAGE_S = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
"""What a browser accepts for a page."""


def visit(folder: Path, *entries: dict[str, Any]) -> list[dict[str, Any]]:
    """The states of those who repeat a visit of these requests."""
    file = folder / "v.har"
    for second, each in enumerate(entries):
        each["startedDateTime"] = f"2026-01-01T00:00:{second:02d}Z"
    file.write_text(json.dumps({"log": {"entries": entries}}))
    states: list[dict[str, Any]] = described(file)["states"]
    return states


def asking(url: str, headers: dict[str, str], **more: Any) -> dict[str, Any]:
    """A request with these headers."""
    listed = [{"name": name, "value": value} for name, value in headers.items()]
    return entry({"url": f"http://h{url}", "headers": listed} | more)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HX-Request", "true"),
        ("Turbo-Frame", "cart"),
        ("RSC", "1"),
        ("Accept", "text/vnd.turbo-stream.html, text/html"),
        ("Accept", PAGE_S),
        ("Accept-Language", "de-DE,de;q=0.9"),
        ("If-Match", '"7"'),
        ("X-Requested-With", "XMLHttpRequest"),
    ],
)
def test_what_a_program_may_need_is_sent_as_it_was(tmp_path: Path, name: str, value: str) -> None:
    before = entry({"url": "http://h/"}, {"content": {"text": '{"id": 1}'}})
    _, state = visit(tmp_path, before, asking("/x", {name: value}))
    assert state["headers"] == [{"name": name, "from": {"constant": value}}]


def test_a_token_against_forged_requests_is_sent_under_any_name(tmp_path: Path) -> None:
    before = entry({"url": "http://h/"})
    _, state = visit(tmp_path, before, asking("/x", {"CSRF-Token": "a1b2"}))
    assert state["headers"] == [{"name": "CSRF-Token", "from": {"secret": "a1b2"}}]


@pytest.mark.parametrize(
    "name",
    [
        *(":authority", ":path", "Host", "Connection", "Content-Length", "Content-Type", "Cookie"),
        *("User-Agent", "Accept-Encoding", "Origin", "Referer", "Sec-Fetch-Mode", "DNT"),
        *("Upgrade-Insecure-Requests", "If-None-Match", "If-Modified-Since", "Cache-Control"),
        *("Pragma", "X-Request-Id", "X-Forwarded-For", "traceparent", "Idempotency-Key", "a b", ""),
    ],
)
def test_what_the_driver_has_itself_or_holds_for_one_request_is_left_out(
    tmp_path: Path, name: str
) -> None:
    (state,) = visit(tmp_path, asking("/", {name: "x"}))
    assert state["headers"] == []


@pytest.mark.parametrize(
    ("headers", "says"),
    [({"origin": "https://h"}, True), ({"Origin": "null"}, False), ({"Accept": "a/b"}, False)],
)
def test_who_said_from_which_site_a_request_came_says_so(
    tmp_path: Path, headers: dict[str, str], says: bool
) -> None:
    (state,) = visit(tmp_path, asking("/", headers, method="POST"))
    assert state.get("origin", False) is says
    assert "https://h" not in str(state["headers"])


def test_a_small_number_in_a_header_is_an_id_where_its_name_says_so(tmp_path: Path) -> None:
    before = entry({"url": "http://h/"}, {"content": {"text": '[{"id":7}]'}})
    _, state = visit(tmp_path, before, asking("/x", {"X-Tenant-Id": "7", "X-Page": "7"}))
    tenant, page = (each["from"] for each in state["headers"])
    assert (list(tenant), page) == (["remembered"], {"constant": "7"})


@pytest.mark.parametrize(
    ("scheme", "token"),
    [
        ("Bearer ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9.c2lnbmVk"),
        ("Token ", "9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b"),
        ("Bearer ", "3|WqKd8sLmPz0aYtRb"),
        ("", "9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b"),
    ],
)
def test_a_token_of_the_login_s_reply_is_each_user_s_own(
    tmp_path: Path, scheme: str, token: str
) -> None:
    reply = {"content": {"mimeType": "application/json", "text": f'{{"access_token":"{token}"}}'}}
    login = entry({"url": "http://h/api/login", "method": "POST"}, reply)
    first, second = visit(tmp_path, login, asking("/api/me", {"Authorization": scheme + token}))
    (extract,) = first["extract"]
    assert (extract["after"], extract["which"]) == ('"access_token":"', "first")
    own = {"remembered": extract["name"]}
    joined = {"joined": [{"constant": scheme}, own]}
    assert second["headers"] == [{"name": "Authorization", "from": joined if scheme else own}]


def test_a_password_in_a_header_stays_whole(tmp_path: Path) -> None:
    (state,) = visit(tmp_path, asking("/", {"Authorization": "Basic YWxpY2U6c2VjcmV0"}))
    (header,) = state["headers"]
    assert header["from"] == {"secret": "Basic YWxpY2U6c2VjcmV0"}
