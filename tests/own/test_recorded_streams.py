"""Requests of a recording that have no end, that nobody waited for, or that users do not send."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.own.made_recordings import ODD, SECRET, WHOLE, among, asked, timed, written
from tests.own.test_recorded import entry
from tierlab.workloads.own.recorded import notes

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
