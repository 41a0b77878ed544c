"""From a recording to users: what is in the bodies that they send, and what of it is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

import pytest

from tests.own.shop import PASSWORD
from tests.own.test_recorded import entry
from tests.own.test_recorded_headers import visit
from tierlab.workloads.own.kept_users import without_secrets
from tierlab.workloads.own.slots import FORM

TEXT = "text/plain;charset=UTF-8"
TOKEN = "3f9a8b7c6d5e4f3a2b1c"
LOGIN = {"user": "alice", "password": PASSWORD}
MULTIPART = (
    '--b\r\nContent-Disposition: form-data; name="user"\r\n\r\nalice\r\n'
    f'--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n{PASSWORD}\r\n--b--\r\n'
)


def sending(method: str, kind: str, body: str) -> dict[str, Any]:
    """A request with this body."""
    headers = [{"name": "Content-Type", "value": kind}]
    posted = {"mimeType": kind, "text": body}
    return entry({"url": "http://h/x", "method": method, "headers": headers, "postData": posted})


def before(text: str) -> dict[str, Any]:
    """A page that says so."""
    return entry({"url": "http://h/"}, {"content": {"mimeType": "text/html", "text": text}})


@pytest.mark.parametrize(
    ("method", "kind", "body"),
    [
        ("PUT", FORM, urlencode(LOGIN)),
        ("PATCH", FORM, urlencode(LOGIN)),
        ("POST", FORM, urlencode(LOGIN)),
        ("POST", TEXT, json.dumps(LOGIN)),
        ("POST", FORM, json.dumps(LOGIN)),
        ("POST", "multipart/form-data; boundary=b", MULTIPART),
        ("POST", TEXT, f"password is {PASSWORD}"),
        ("POST", FORM, PASSWORD),
        ("POST", "application/xml", f"<login password='{PASSWORD}'/>"),
        ("POST", FORM, urlencode({"payload": json.dumps(LOGIN)})),
        ("POST", "application/json", json.dumps({"query": f'{{login(password: "{PASSWORD}")}}'})),
    ],
)
def test_no_password_of_a_body_is_in_what_is_kept(
    tmp_path: Path, method: str, kind: str, body: str
) -> None:
    (state,) = visit(tmp_path, sending(method, kind, body))
    told = json.dumps(state)
    assert PASSWORD in told, "users have to send it"
    kept = json.dumps(without_secrets(state))
    assert PASSWORD not in kept
    assert quote_plus(PASSWORD) not in kept
    assert state["body"]["content_type"] == kind


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_what_has_no_body_is_of_the_type_that_it_was_said_to_be(
    tmp_path: Path, method: str
) -> None:
    bare = entry({"url": "http://h/x", "method": method})
    untyped, typed = visit(tmp_path, bare, sending(method, "application/json", ""))
    assert "body" not in untyped
    assert typed["body"] == {"content_type": "application/json", "values": "plain", "parts": []}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_form_s_token_is_each_user_s_own_by_any_method(tmp_path: Path, method: str) -> None:
    page = before(f'<input name="csrf" value="{TOKEN}">')
    body = f"_method=put&csrf={TOKEN}&note=a+b%21&empty="
    _, state = visit(tmp_path, page, sending(method, FORM, body))
    assert state["body"] == {
        "content_type": FORM,
        "values": "form",
        "parts": [
            {"constant": "_method=put&csrf="},
            {"remembered": "v1"},
            {"constant": "&note=a+b%21&empty="},
        ],
    }


@pytest.mark.parametrize(
    "text",
    [
        "<!-- {} -->",
        "<!--><!-- {}",
        "<script type='text/x-template'>{}</script>",
        "<STYLE>{}",
        "<textarea name=a>{}</Textarea >",
    ],
)
def test_a_field_within_a_text_is_none_and_its_token_is_found_by_what_stands_before_it(
    tmp_path: Path, text: str
) -> None:
    field = f'<input name="csrf" value="{TOKEN}">'
    (tmp_path / "alone").mkdir()
    asked = sending("POST", FORM, f"csrf={TOKEN}")
    first, _ = visit(tmp_path, before("<script src=x.js></script>" + field), asked)
    assert first["extract"][0]["field"] == "csrf"
    first, _ = visit(tmp_path / "alone", before(text.format(field)), asked)
    assert first["extract"][0]["after"] == field[: -len(f'{TOKEN}">')]


@pytest.mark.parametrize("kind", [TEXT, FORM, "application/vnd.api+json", ""])
def test_json_is_known_by_its_looks(tmp_path: Path, kind: str) -> None:
    page = before(f'{{"key": "{TOKEN}"}}')
    _, state = visit(tmp_path, page, sending("POST", kind, f'{{"a": "{TOKEN}"}}'))
    assert state["body"]["values"] == "json"
    assert state["body"]["parts"][1] == {"remembered": "v1"}


def test_fields_of_parts_and_bodies_of_no_known_kind_are_written_as_they_are(
    tmp_path: Path,
) -> None:
    multipart, plain = visit(
        tmp_path,
        sending("POST", "multipart/form-data; boundary=b", MULTIPART),
        sending("POST", TEXT, 'a"b\\c'),
    )
    assert multipart["body"]["values"] == plain["body"]["values"] == "plain"
    assert multipart["body"]["parts"][1] == {"secret": PASSWORD}
    assert plain["body"]["parts"] == [{"secret": 'a"b\\c'}]


QUERIES = ("query item($id: Int) { item(id: $id) { name } }", "{ user(id: $id) { email } }")


@pytest.mark.parametrize(
    "asked",
    [
        [{"query": text, "variables": {"id": n}} for n, text in enumerate(QUERIES, 11)],
        [
            {"jsonrpc": "2.0", "method": name, "params": {"id": n}}
            for n, name in ((11, "a"), (12, "b"))
        ],
    ],
    ids=["GraphQL", "JSON-RPC"],
)
def test_operations_of_one_address_keep_what_is_theirs(
    tmp_path: Path, asked: list[dict[str, Any]]
) -> None:
    """Users sent any query of the visit, with the other's variables."""
    posted = [sending("POST", "application/json", json.dumps(each)) for each in asked]
    states = visit(tmp_path, *posted)
    assert len(states) == 2
    for state, each in zip(states, asked, strict=True):
        parts = state["body"]["parts"]
        assert all("choice" not in part for part in parts), parts
        assert "".join(part["constant"] for part in parts) == json.dumps(each)


def test_numbers_of_one_operation_are_chosen_from(tmp_path: Path) -> None:
    asked = [{"query": QUERIES[0], "variables": {"id": n}} for n in (11, 12)]
    states = visit(tmp_path, *(sending("POST", "application/json", json.dumps(a)) for a in asked))
    assert any(part.get("choice") == ["11", "12"] for part in states[0]["body"]["parts"])


def test_one_time_codes_are_secrets_and_no_numbers_to_choose_from(tmp_path: Path) -> None:
    states = visit(tmp_path, *(sending("POST", FORM, f"pin={pin}") for pin in (4711, 8123)))
    told = json.dumps(without_secrets({"states": states}))
    assert "4711" not in told
    assert "8123" not in told
