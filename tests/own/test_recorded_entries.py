"""Entries of a HAR file that are not as the format has them."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.own.made_recordings import ODD, SECRET, WHOLE, among, asked, thinks, written
from tests.own.test_recorded import described, entry
from tierlab.errors import UserError
from tierlab.workloads.own.kept_users import without_secrets
from tierlab.workloads.own.recorded import notes


@pytest.mark.parametrize(
    "change",
    [
        {"response": None},
        {"response": {}},
        {"response": []},
        {"response": "blocked"},
        {"response": {"status": None}},
        {"response": {"status": 0, "content": None, "headers": None}},
        {"response": {"status": -1}},
        {"response": {"status": "", "content": {"size": -1}}},
        {"response": {"status": "(canceled)"}},
        {"response": {"status": float("nan")}},
        {"response": {"status": 1e30}},
        {"response": {"status": 7}},
    ],
)
def test_an_entry_without_a_reply_is_left_out_and_told(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    odd = entry(ODD) | change
    file = written(tmp_path, *among(odd, {k: v for k, v in odd.items() if k != "response"}))
    assert asked(file) == WHOLE
    (note,) = notes([file])
    assert note.startswith("v.har: 2 requests without a reply in the recording (GET /odd, ... in")
    assert "entry 3" in note


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        ({}, "entry 3, since it has no request"),
        (None, "entry 3, since it has no request"),
        ([1], "entry 3, since it has no request"),
        ("text", "entry 3, since it has no request"),
        ({"request": None}, "entry 3, since it has no request"),
        (entry({"url": None}), "since its request has no url"),
        (entry({"url": ""}), "since its request has no url"),
        (entry({"url": 7}), "since its request has no url"),
        (entry({"url": "/relative"}), "since its url has no host"),
        (entry({"url": "http:///nowhere"}), "since its url has no host"),
        (
            entry({"url": "http://[fe80::1%25eth0/x"}),
            "(GET http://[fe80::1%25eth0/), since its url",
        ),
        (entry({"url": f"http://h:99999/{SECRET}?t={SECRET}"}), "(GET http://h:99999/), since its"),
        (
            entry({"url": f"http://u:{SECRET}@h:x/"}),
            "(GET http://h:x/), since its url is malformed",
        ),
        (entry({"method": None}), "since its request has no method"),
    ],
)
def test_an_entry_that_cannot_be_read_is_left_out_and_told(
    tmp_path: Path, odd: Any, sentence: str
) -> None:
    file = written(tmp_path, *among(odd))
    assert asked(file) == WHOLE
    (note,) = notes([file])
    assert note.startswith("v.har: 1 of 5 entries cannot be read and is left out: entry 3")
    assert sentence in note
    assert SECRET not in note


def test_a_file_is_refused_where_more_than_half_of_it_cannot_be_read(tmp_path: Path) -> None:
    file = written(tmp_path, *among({}, {}, {}, {}))
    assert asked(file) == WHOLE
    assert "4 of 8 entries cannot be read and are left out: entry 3" in notes([file])[0]
    assert "; and entries 4, 5, 6;" in notes([file])[0]
    file = written(tmp_path, *among({}, {}, {}, {}, {}))
    with pytest.raises(
        UserError, match=r"request 3 is not of HAR's form .*, and 5 of its 9 requests"
    ):
        described(file)


@pytest.mark.parametrize(
    "change",
    [
        {"time": None},
        {"time": -1},
        {"time": "12 ms"},
        {"time": float("inf")},
        {"time": 1e15},
        {"time": [1]},
        {"timings": None},
        {"timings": {"wait": "x"}, "time": 0},
    ],
)
def test_an_odd_length_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    file = written(tmp_path, *among(entry(ODD) | change))
    assert asked(file) == ["/", "/items", "/odd", "/cart", "/bye"]
    assert max(thinks(file)) <= 3.0
    assert notes([file]) == []


@pytest.mark.parametrize(
    "request_",
    [
        {"headers": None},
        {"headers": {"Accept": "x/y"}},
        {"headers": [None, 7, {"value": "x"}, {"name": "Accept"}, {"name": "X-A", "value": None}]},
        {"cookies": None},
        {"cookies": {"a": "b"}},
        {"cookies": [{"name": "a"}]},
        {"url": "HTTP://h/odd", "method": "get"},
        {"url": " http://h/odd "},
        {"url": "http://h/odd#top"},
        {"url": "/odd", "headers": [{"name": "Host", "value": "h"}]},
    ],
)
def test_odd_fields_of_a_request_cost_no_request(tmp_path: Path, request_: dict[str, Any]) -> None:
    file = written(tmp_path, *among(entry(ODD | request_)))
    assert asked(file) == ["/", "/items", "/odd", "/cart", "/bye"]


def test_addresses_are_sent_as_requests_may_have_them(tmp_path: Path) -> None:
    """Some proxies write them decoded; JSON may have halves of characters."""
    file = tmp_path / "v.har"
    url = '"http://h/gr\\u00f6\\u00dfe a?q=\\ud83d"'
    text = json.dumps({"log": {"entries": [entry({"url": "URL"})]}}).replace('"URL"', url)
    file.write_text(text)
    (only,) = described(file)["states"]
    told = json.dumps(only, ensure_ascii=False)
    assert "gr%C3%B6%C3%9Fe%20a?q=%3F" in told


def test_a_query_that_is_in_its_list_alone_is_sent(tmp_path: Path) -> None:
    listed = [{"name": "q", "value": "a b"}, {"name": "page", "value": "2"}]
    told = {}
    for url in ("http://h/find", "http://h/find?q=x"):
        file = written(tmp_path, entry({"url": url, "queryString": listed}))
        told[url] = json.dumps(described(file)["states"][0]["rest"])
    assert "?q=a+b&page=2" in told["http://h/find"]
    assert "?q=x" in told["http://h/find?q=x"]
    assert "page" not in told["http://h/find?q=x"]


def changed(draw: Random, value: Any) -> Any:
    """The value, or a part of it, changed by chance."""
    if draw.random() < 0.1 or not value or not isinstance(value, dict | list):
        odd = [None, {}, [], "", 0, -1, 1e300, True, "x", "\ud83d", "\0", [None], {"": None}]
        return draw.choice(odd)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw.choice(keys)
    if isinstance(value, dict) and draw.random() < 0.2:
        return {each: value[each] for each in value if each != key}
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = changed(draw, value[key])
    return copy


@pytest.mark.parametrize("seed", range(40))
def test_whatever_one_entry_is_the_others_are_sent(tmp_path: Path, seed: int) -> None:
    """One bad entry never refuses the file."""
    posted = {"mimeType": "multipart/form-data", "params": [{"name": "a", "value": "1"}]}
    headers = [{"name": "Accept", "value": "*/*"}, {"name": "Referer", "value": "http://h/"}]
    sent = ODD | {"method": "POST", "postData": posted, "headers": headers, "cookies": headers}
    answer = {"headers": headers, "content": {"mimeType": "text/html", "text": "x", "size": 1}}
    whole = entry(sent, answer) | {"timings": {"wait": 1}, "_resourceType": "document"}
    for number in range(8):
        file = written(tmp_path, *among(changed(Random(seed * 8 + number), whole)))
        assert [each for each in asked(file) if each in WHOLE] == WHOLE
        assert all(each.isprintable() for each in notes([file]))
        json.dumps(described(file), ensure_ascii=False).encode()


def test_notes_are_sentences_of_one_line_without_secrets(tmp_path: Path) -> None:
    odd = [
        {"request": {"url": f"http://[x\n/{SECRET}", "method": "GET\n"}},
        entry({"url": f"http://other\x07.example/{SECRET}?a={SECRET}"}),
        entry({"url": f"http://h/{SECRET}"}, {"status": 0}),
        entry(ODD) | {"startedDateTime": f"{SECRET}\n"[16:]},
    ]
    file = written(tmp_path, *among(*odd))
    found = notes([file])
    assert len(found) == 4
    for each in found:
        assert each.endswith(".")
        assert each.startswith("v.har: ")
        assert all(character.isprintable() for character in each)
        assert SECRET not in each
    assert SECRET not in json.dumps(without_secrets(described(file)))
