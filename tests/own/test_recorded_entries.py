"""Entries of a HAR file that are not as the format has them, that have no end, or no sane date."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.own.test_recorded import described, entry
from tierlab.errors import UserError
from tierlab.workloads.own.kept_users import without_secrets
from tierlab.workloads.own.recorded import notes
from tierlab.workloads.own.steps import LONGEST_THINK_S

SECRET = "b2c5f0e19a7d4836"


def written(folder: Path, *entries: Any) -> Path:
    file = folder / "v.har"
    file.write_text(json.dumps({"log": {"entries": entries}}))
    return file


def timed(*entries: Any) -> list[Any]:
    """The entries, three seconds apart."""
    for number, each in enumerate(entries):
        if isinstance(each, dict) and each.get("startedDateTime") == "2026-01-01T00:00:00Z":
            each["startedDateTime"] = f"2026-01-01T00:00:{3 * number:02d}Z"
    return list(entries)


def among(*odd: Any) -> list[Any]:
    """A visit with odd entries in its middle."""
    pages = [entry({"url": f"http://h/{path}"}) for path in ("", "items", "cart", "bye")]
    return timed(*pages[:2], *odd, *pages[2:])


def asked(file: Path) -> list[str]:
    return [each["interaction"].partition(" ")[2] for each in described(file)["states"]]


def thinks(file: Path) -> list[float]:
    """The mean think times, in seconds."""
    return [each["delay"]["mean_ns"] / 1e9 for each in described(file)["states"]]


ODD = {"url": "http://h/odd"}
WHOLE = ["/", "/items", "/cart", "/bye"]


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


EVENTS = {"content": {"mimeType": "text/event-stream; charset=utf-8"}}


def headed(name: str, value: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value}]


@pytest.mark.parametrize(
    "odd",
    [
        entry(ODD, EVENTS),
        entry(ODD, {"headers": headed("content-type", "Text/Event-Stream"), "content": {}}),
        entry(ODD, {"headers": headed("Content-Type", "text/event-stream")}),
        entry(ODD | {"headers": headed("accept", "text/event-stream")}),
        entry(ODD | {"headers": headed("Accept", "text/event-stream, */*")}, {"content": {}}),
        entry(ODD | {"method": "POST"}, EVENTS),
        entry(ODD) | {"_resourceType": "eventsource"},
        entry(ODD) | {"_resourceType": "EventSource"},
        entry(ODD, {"content": {"mimeType": "multipart/x-mixed-replace; boundary=f"}}),
        entry({"url": "ws://h/odd"}, {"status": 101}),
        entry({"url": "wss://h/odd"}),
        entry({"url": "WSS://H:443/odd"}, {"status": 0}),
        entry(ODD, {"status": 101}),
        entry(ODD | {"headers": headed("upgrade", "WebSocket")}),
        entry(ODD | {"method": "CONNECT", "headers": headed(":protocol", "websocket")}),
        entry(ODD | {"headers": headed("Sec-WebSocket-Key", "x")}, {"status": 200}),
        entry(ODD, {"headers": headed("Sec-WebSocket-Accept", "x")}),
        entry(ODD) | {"_resourceType": "websocket"},
        entry(ODD) | {"_webSocketMessages": [{"type": "send", "data": "x"}]},
    ],
)
def test_streams_are_left_out_however_they_are_marked(tmp_path: Path, odd: dict[str, Any]) -> None:
    file = written(tmp_path, *among(odd | {"time": 30_000}))
    assert asked(file) == WHOLE
    (note,) = notes([file])
    assert "1 websocket or event stream (" in note
    assert "/odd) is left out" in note


@pytest.mark.parametrize(
    "odd",
    [
        entry(
            ODD | {"headers": headed("Accept", "application/json, text/event-stream")},
            {"content": {"mimeType": "application/json"}},
        ),
        entry(ODD | {"headers": headed("Upgrade-Insecure-Requests", "1")}),
        entry(ODD | {"headers": headed("Upgrade", "h2c")}),
        entry(ODD, {"content": {"mimeType": "application/x-ndjson"}}),
    ],
)
def test_what_looks_like_a_stream_and_is_none_is_sent(tmp_path: Path, odd: dict[str, Any]) -> None:
    file = written(tmp_path, *among(odd))
    assert "/odd" in asked(file)
    assert notes([file]) == []


def poll(**more: Any) -> dict[str, Any]:
    return entry(ODD, {"content": {"mimeType": "application/json"}}) | {"time": 25_000} | more


@pytest.mark.parametrize(
    ("odd", "sent", "note"),
    [
        (poll(), False, "1 long poll (GET /odd, open for 25 s) is left out"),
        (poll(time=4_000), True, ""),
        (poll(time=9_000), True, ""),
        (
            poll() | {"request": {"url": "http://h/odd", "method": "POST"}},
            True,
            "POST /odd took 25 s",
        ),
        (entry(ODD) | {"time": 25_000}, True, ""),
        (poll(startedDateTime="2026-01-01T00:00:30Z"), True, "GET /odd took 25 s"),
    ],
    ids=["nobody waited", "short", "rather short", "posted", "a page", "last"],
)
def test_what_nobody_waited_for_is_left_out(
    tmp_path: Path, odd: dict[str, Any], sent: bool, note: str
) -> None:
    late = [entry({"url": f"http://h/later/{word}"}) for word in ("a", "b", "c")]
    file = written(tmp_path, *timed(*among(odd)[:4], *late))
    assert ("/odd" in asked(file)) is sent
    assert (note in " ".join(notes([file]))) if note else notes([file]) == []


def test_failures_and_other_methods_are_told(tmp_path: Path) -> None:
    odd = [
        entry({"url": f"http://h/gone/{SECRET}?t={SECRET}"}, {"status": 404}),
        entry({"url": "http://h/", "method": "HEAD"}),
        entry({"url": "http://h/", "method": "PROPFIND"}),
    ]
    file = written(tmp_path, *among(*odd))
    assert asked(file) == WHOLE
    failed, methods = notes([file])
    assert "1 request that failed in the recording (GET /gone/{id} with status 404)" in failed
    assert "2 requests by HEAD, PROPFIND (HEAD /, ...) are left out" in methods
    assert SECRET not in failed


def test_replies_without_content_are_told(tmp_path: Path) -> None:
    bare = {"content": {"mimeType": "text/html", "size": 500}}
    file = written(tmp_path, *among(entry(ODD, bare)))
    (note,) = notes([file])
    assert "1 of 5 replies with a page or JSON (GET /odd) is in the recording without" in note


@pytest.mark.parametrize(
    "date",
    [
        "2026-01-01T00:00:06.000Z",
        "2026-01-01T00:00:06.1234567+00:00",
        "2026-01-01T01:00:06+0100",
        "2026-01-01T01:00:06.5 +01:00",
        "2026-01-01 00:00:06",
        "2026-01-01t00:00:06z",
        "2026-01-01T00:00:06,250",
        "Thu, 01 Jan 2026 00:00:06 GMT",
        "Thursday, 01-Jan-26 00:00:06 GMT",
        "Thu Jan 01 2026 01:00:06 GMT+0100 (CET)",
        "/Date(1767225606000)/",
        1767225606,
        1767225606.25,
        1767225606000,
        1767225606000000,
        1767225606000000000,
        "1767225606000",
    ],
)
def test_dates_are_read_in_any_usual_form(tmp_path: Path, date: Any) -> None:
    file = written(tmp_path, *among(entry(ODD) | {"startedDateTime": date}))
    assert asked(file) == ["/", "/items", "/odd", "/cart", "/bye"]
    assert all(2 < each < 4 for each in thinks(file)), thinks(file)
    assert notes([file]) == []


@pytest.mark.parametrize(
    "date",
    ["", None, "now", "10/5/2021 9:03 AM", 0, -5, True, [], {}, "2026-13-01T00:00:00Z", 1e30],
)
def test_what_has_no_date_keeps_its_place_and_is_told(tmp_path: Path, date: Any) -> None:
    for at in (0, 2, 4):
        entries = among(entry(ODD))
        entries[at]["startedDateTime"] = date
        file = written(tmp_path, *entries)
        assert asked(file) == ["/", "/items", "/odd", "/cart", "/bye"], at
        assert max(thinks(file)) < 7
        (note,) = notes([file])
        assert f"1 of 5 requests cannot be dated (entry {at + 1} has {date!r})" in note


def test_a_recording_without_dates_is_in_the_file_s_order(tmp_path: Path) -> None:
    file = written(tmp_path, *[each | {"startedDateTime": ""} for each in among()])
    assert asked(file) == WHOLE
    assert thinks(file) == [0, 0, 0, 0]
    assert "4 of 4 requests cannot be dated" in notes([file])[0]


@pytest.mark.parametrize(
    "date",
    [
        "2021-10-05T09:03:50Z",
        "0001-01-01T00:00:00",
        "1970-01-01T00:00:00Z",
        "2038-01-19T03:14:07Z",
        99,
    ],
)
@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_clock_that_is_years_off_changes_neither_order_nor_pauses(
    tmp_path: Path, date: Any, at: int
) -> None:
    entries = among(entry(ODD))
    entries[at]["startedDateTime"] = date
    file = written(tmp_path, *entries)
    assert asked(file) == ["/", "/items", "/odd", "/cart", "/bye"]
    assert max(thinks(file)) < 4
    (note,) = notes([file])
    times = "2 times" if at == 2 else "once"
    assert f"the dates jump by more than a day {times} (entry {max(at, 1) + 1} has" in note


def test_entries_that_are_not_in_order_are_sorted_within_a_day(tmp_path: Path) -> None:
    first, second, third, fourth = among()
    assert asked(written(tmp_path, third, first, fourth, second)) == WHOLE


@pytest.mark.parametrize(("pause", "taken"), [("00:09:30", 570), ("02:30:00", LONGEST_THINK_S)])
def test_a_long_pause_is_a_think_time_of_ten_minutes(
    tmp_path: Path, pause: str, taken: int
) -> None:
    late = entry({"url": "http://h/late"}) | {"startedDateTime": f"2026-01-01T{pause}Z", "time": 0}
    file = written(tmp_path, entry({"url": "http://h/"}) | {"time": 0}, late)
    assert thinks(file) == [taken, taken]
    found = notes([file])
    assert (
        found == []
        if taken < LONGEST_THINK_S
        else "1 pause over 600 s (the longest of 9,000" in found[0]
    )


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
