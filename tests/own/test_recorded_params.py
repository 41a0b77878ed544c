"""Bodies of a HAR file by the ways in which tools write them: texts, parameters, base64."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.own.test_recorded import described, entry
from tests.own.test_recorded_bodies import MULTIPART
from tierlab.workloads.own.recorded import notes
from tierlab.workloads.own.slots import FORM

PARTS = "multipart/form-data; boundary=----X"
HI = {"name": "title", "value": "hi"}
CRLF = "\r\n"


def written(folder: Path, posted: Any, kind: str | None = None, **request: Any) -> Path:
    """A recording of a page, and a request with this `postData` and Content-Type."""
    headers = [] if kind is None else [{"name": "Content-Type", "value": kind}]
    headers += request.pop("more", [])
    sent = {"url": "http://h/x", "method": "POST", "headers": headers, "postData": posted} | request
    file = folder / "v.har"
    file.write_text(json.dumps({"log": {"entries": [entry({"url": "http://h/"}), entry(sent)]}}))
    return file


def body(file: Path) -> tuple[str, str]:
    """The type and the text of the body that users send."""
    _, state = described(file)["states"]
    if "body" not in state:
        return "", ""
    parts = state["body"]["parts"]
    return state["body"]["content_type"], "".join(text for part in parts for text in part.values())


def part(name: str, value: str, more: str = "", kind: str = "", boundary: str = "----X") -> str:
    head = f'--{boundary}{CRLF}Content-Disposition: form-data; name="{name}"{more}{CRLF}'
    return f"{head}{f'Content-Type: {kind}{CRLF}' if kind else ''}{CRLF}{value}{CRLF}"


@pytest.mark.parametrize(
    ("params", "kind", "sent"),
    [
        ([{"name": "q", "value": "a b&c"}], FORM, "q=a+b%26c"),
        ([{"name": "q"}], FORM, "q="),
        ([{"name": "q", "value": None}, {"name": "n", "value": 7}], FORM, "q=&n=7"),
        ([{"name": "q", "value": "a%20b"}], FORM, "q=a%20b"),
        ([{"name": "q", "value": "a%20b"}, {"name": "r", "value": "c d"}], FORM, "q=a%2520b&r=c+d"),
        ([{"name": "q", "value": "100%"}], FORM, "q=100%25"),
        ([{"name": "q", "value": "größe"}], f"{FORM}; charset=UTF-8", "q=gr%C3%B6%C3%9Fe"),
        ({"q": "a b", "n": 7}, FORM, "q=a+b&n=7"),
        ([None, 7, "x", HI], FORM, "title=hi"),
        ([{"value": "x"}], FORM, "=x"),
    ],
)
def test_a_form_s_parameters_are_its_body(
    tmp_path: Path, params: Any, kind: str, sent: str
) -> None:
    for posted in (
        {"params": params},
        {"params": params, "text": ""},
        {"params": params, "text": None},
    ):
        for told in ({"mimeType": kind}, {"mimeType": ""}, {}):
            file = written(tmp_path, posted | told, kind)
            assert body(file) == (kind, sent)
            assert notes([file]) == []
    assert body(written(tmp_path, {"params": params, "mimeType": kind})) == (kind, sent)


@pytest.mark.parametrize(
    ("params", "sent"),
    [
        ([HI, {"name": "qty", "value": "2"}], part("title", "hi") + part("qty", "2")),
        ([{"name": 'a"b\n', "value": "1\n2"}], part("a%22b%0A", "1\n2")),
        (
            [HI, {"name": "f", "fileName": "a.txt", "contentType": "text/plain", "value": "x"}],
            part("title", "hi") + part("f", "x", '; filename="a.txt"', "text/plain"),
        ),
        (
            [{"name": "j", "contentType": "application/json", "value": "{}"}],
            part("j", "{}", "", "application/json"),
        ),
    ],
)
def test_parameters_of_parts_are_sent_as_parts(
    tmp_path: Path, params: list[dict[str, Any]], sent: str
) -> None:
    file = written(tmp_path, {"mimeType": PARTS, "params": params}, PARTS)
    assert body(file) == (PARTS, f"{sent}------X--{CRLF}")
    assert notes([file]) == []


@pytest.mark.parametrize(
    ("header", "mime", "boundary"),
    [
        ("multipart/form-data; boundary=b", "multipart/form-data", "b"),
        ("multipart/form-data", "multipart/form-data; boundary=b", "b"),
        (None, 'multipart/form-data; charset=utf-8; boundary="a b"', "a b"),
        ("Multipart/Form-Data; Boundary=b", "", "b"),
        ("multipart/form-data", "multipart/form-data", "tierlab-part-7c1e90b2"),
        (None, "multipart/form-data", "tierlab-part-7c1e90b2"),
    ],
)
def test_parts_have_the_boundary_of_their_type(
    tmp_path: Path, header: str | None, mime: str, boundary: str
) -> None:
    kind, sent = body(written(tmp_path, {"mimeType": mime, "params": [HI]}, header))
    assert sent == f"{part('title', 'hi', boundary=boundary)}--{boundary}--{CRLF}"
    assert boundary in kind


def test_a_file_s_parameter_makes_parts_where_no_type_is_said(tmp_path: Path) -> None:
    kind, sent = body(written(tmp_path, {"params": [HI, {"name": "f", "fileName": "a.png"}]}))
    assert kind.startswith("multipart/form-data; boundary=")
    assert 'name="f"; filename="a.png"' in sent


@pytest.mark.parametrize(
    ("params", "lacking"),
    [
        (
            [HI, {"name": "f", "fileName": "a.png", "contentType": "image/png"}],
            "the file a.png, which",
        ),
        ([{"name": n, "fileName": f"{n}.png"} for n in "abc"], "the file a.png and 2 other files"),
        (
            [{"name": "f", "fileName": "a.png", "value": "\ufffdPNG"}],
            "1 characters that the browser",
        ),
    ],
)
def test_what_a_file_s_parameter_lacks_is_told(tmp_path: Path, params: Any, lacking: str) -> None:
    file = written(tmp_path, {"mimeType": PARTS, "params": params}, PARTS)
    assert body(file)[1].count("--" + "----X") == len(params) + 1
    (note,) = notes([file])
    assert "1 request cannot be sent as the browser did: POST /x lacks" in note
    assert lacking in note


def packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("text", "mark", "sent", "note"),
    [
        ("AAECAw==", {"encoding": "base64"}, "\0\1\2\3", ""),
        ("AAECAw==", {"_encoding": "Base64"}, "\0\1\2\3", ""),
        ("AAEC\r\nAw", {"encoding": "base64"}, "\0\1\2\3", ""),
        ("4oKs_-8=".replace("_-8", "4oKs"), {"encoding": "base64"}, "€€", ""),
        (packed("größe".encode()), {"encoding": "base64"}, "größe", ""),
        (
            packed(b"a\xff\xfeb"),
            {"encoding": "base64"},
            "a??b",
            "2 of its 4 bytes, which are not UTF-8",
        ),
        ("no base64!", {"encoding": "base64"}, "no base64!", "marked as base64 and is none"),
        ("AAECAw==", {}, "AAECAw==", ""),
    ],
)
def test_bodies_in_base64_are_sent_as_what_they_are(
    tmp_path: Path, text: str, mark: dict[str, str], sent: str, note: str
) -> None:
    kind = "application/octet-stream"
    file = written(tmp_path, {"mimeType": kind, "text": text} | mark, kind)
    assert body(file) == (kind, sent)
    found = notes([file])
    assert (note in found[0]) if note else found == []


def test_a_form_in_base64_is_a_form(tmp_path: Path) -> None:
    posted = {"mimeType": FORM, "encoding": "base64", "text": packed(b"a=1&password=hush")}
    _, state = described(written(tmp_path, posted, FORM))["states"]
    assert {"secret": "hush"} in state["body"]["parts"]


@pytest.mark.parametrize(
    ("posted", "kind", "sent"),
    [
        ("a=1", FORM, "a=1"),
        ([{"name": "a", "value": "1"}], FORM, "a=1"),
        ({"text": "a=1", "params": None}, None, "a=1"),
        ({"text": "a=1", "params": [{"name": "b", "value": "2"}]}, FORM, "a=1"),
        ({"text": {"a": 1}}, "application/json", '{"a":1}'),
        ({"text": ["a", {}]}, "application/json", '["a",{}]'),
        ({"text": 7}, "text/plain", "7"),
        ({"mimeType": None, "text": '{"a":1}'}, None, '{"a":1}'),
        (None, None, ""),
        ({}, None, ""),
        ([], None, ""),
        (7, "text/plain", "7"),
    ],
)
def test_odd_ways_to_write_a_body(tmp_path: Path, posted: Any, kind: str | None, sent: str) -> None:
    assert body(written(tmp_path, posted, kind))[1] == sent


def test_parts_with_bare_line_ends_get_those_that_servers_read(tmp_path: Path) -> None:
    """Some browsers save them so."""
    for kind in ("multipart/form-data; boundary=b", "multipart/form-data"):
        file = written(tmp_path, {"mimeType": kind, "text": MULTIPART.replace(CRLF, "\n")}, kind)
        assert body(file) == ("multipart/form-data; boundary=b", MULTIPART)


@pytest.mark.parametrize("kind", [FORM, "multipart/form-data; boundary=b", "multipart/form-data"])
def test_headers_before_a_form_s_text_are_no_part_of_it(tmp_path: Path, kind: str) -> None:
    """Firefox writes them."""
    text = "a=1" if kind == FORM else MULTIPART
    said = kind if kind == FORM else "multipart/form-data; boundary=b"
    headers = f"Content-Type: {said}{CRLF}Content-Length: {len(text)}{CRLF}{CRLF}"
    assert body(written(tmp_path, {"mimeType": kind, "text": headers + text}, kind)) == (said, text)


@pytest.mark.parametrize(
    ("posted", "length", "size", "lacking"),
    [
        (None, "5000", -1, "lacks its body of 5000 bytes"),
        ({"mimeType": "image/png"}, "5000", 0, "lacks its body of 5000 bytes"),
        (None, None, 321, "lacks its body of 321 bytes"),
        ({"text": "x" * 100}, "5000", -1, "lacks 4900 of the 5000 bytes of its body"),
        ({"text": "x" * 100}, "100", 100, ""),
        ({"text": "x" * 98}, "100", -1, ""),
        ({"text": "ä" * 50}, "100", -1, ""),
        (None, "0", 0, ""),
        (None, "many", -1, ""),
    ],
)
def test_a_body_that_the_recording_lacks_is_told(
    tmp_path: Path, posted: Any, length: str | None, size: int, lacking: str
) -> None:
    more = [] if length is None else [{"name": "content-length", "value": length}]
    found = notes([written(tmp_path, posted, "image/png", more=more, bodySize=size)])
    assert (lacking in found[0]) if lacking else found == []
