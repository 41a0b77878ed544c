"""The body of a recorded request, from whichever of HAR's ways to write it a tool has chosen."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from tierlab.exchange.har_fields import header

BOUNDARY = "tierlab-part-7c1e90b2"
"""Separates the parts of a body whose recording does not say what does."""
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/"
MOST_MISSING = 0.1
"""A body that lacks more of what its length was said to be is not whole; line ends differ."""
_HEADERS = re.compile(r"(?:content-[a-z]+:[^\r\n]*\r?\n)+\r?\n", re.I)
"""What Firefox writes before the body of a form."""
_SAID_BOUNDARY = re.compile(r"boundary\s*=\s*(?:\"([^\"]+)\"|([^\s;]+))", re.I)
_FIRST_LINE = re.compile(r"--([^\r\n]+)\r?\n")
_ENCODED = re.compile(r"(?:[\w.~*+-]|%[0-9A-Fa-f]{2})*", re.ASCII)
_NO_BYTE_OF_TEXT = re.compile(r"[\udc80-\udcff]")


@dataclass(frozen=True)
class Body:
    """What a request sent."""

    text: str | None
    """None where there was no body."""
    content_type: str
    """With its parameters; empty where none was said."""
    lacking: str = ""
    """What of the body is not in the recording, in the words after "lacks"; empty if nothing."""


def body_of(posted: Any, headers: Sequence[tuple[str, str]], size: int) -> Body:
    """Return the body of a request by its `postData`, whatever that is, and its headers; `size` is
    how long the recording says that it was, 0 or less where it does not.
    """
    table = _table(posted)
    content_type = header(headers, "content-type")
    mime = str(table.get("mimeType") or "")
    if not content_type or (_is_multipart(mime) and not _SAID_BOUNDARY.search(content_type)):
        content_type = mime or content_type
    text, lacking = _text(table)
    if text:
        text, content_type = _repaired(text, content_type)
    elif parameters := _parameters(table.get("params")):
        text, content_type, lacking = _of_parameters(parameters, content_type)
        return Body(text, content_type, lacking)
    return Body(text, content_type, lacking or _missing(text or "", headers, size))


def _table(posted: Any) -> Mapping[str, Any]:
    """Some tools write the text, or the parameters, alone."""
    if isinstance(posted, Mapping):
        return posted
    return {"params": posted} if isinstance(posted, list) else {"text": posted}


def _is_multipart(said: str) -> bool:
    return said.strip().lower().startswith(MULTIPART)


def _text(table: Mapping[str, Any]) -> tuple[str | None, str]:
    """The text of a body, and what it lacks."""
    said = table.get("text")
    if said is None:
        return None, ""
    if isinstance(said, Mapping | list):
        return json.dumps(said, separators=(",", ":")), ""
    text = str(said)
    if str(table.get("encoding") or table.get("_encoding") or "").lower() != "base64":
        return text, _mangled(text)
    if (data := from_base64(text)) is None:
        return text, "its bytes: it is marked as base64 and is none"
    escaped = data.decode("utf-8", errors="surrogateescape")
    text, count = _NO_BYTE_OF_TEXT.subn("?", escaped)
    wrong = f'{count} of its {len(data)} bytes, which are not UTF-8 and are sent as "?"'
    return text, wrong if count else ""


def from_base64(text: str) -> bytes | None:
    """Return the bytes; None where the text is no base64. Line ends and a lack of padding are
    tolerated, and so is the alphabet of addresses.
    """
    packed = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _mangled(text: str) -> str:
    count = text.count("\ufffd")
    return f"{count} characters that the browser did not keep (a file's bytes)" if count else ""


def _missing(text: str, headers: Sequence[tuple[str, str]], size: int) -> str:
    """What a body lacks of the length that it was said to have."""
    said = header(headers, "content-length")
    wanted = int(said) if said.isascii() and said.isdigit() else max(0, size)
    there = len(text.encode(errors="replace"))
    if not there and wanted:
        return f"its body of {wanted} bytes"
    if header(headers, "content-encoding") or there >= wanted * (1 - MOST_MISSING):
        return ""
    return f"{wanted - there} of the {wanted} bytes of its body"


def _repaired(text: str, content_type: str) -> tuple[str, str]:
    """A body without the headers that Firefox writes before it, and one of parts with the line ends
    and the boundary that it needs.
    """
    is_form = _is_multipart(content_type) or content_type.lower().startswith(FORM)
    if is_form and (headers := _HEADERS.match(text)) is not None:
        text = text[headers.end() :]
        found = _SAID_BOUNDARY.search(headers[0])
        if found is not None and not _SAID_BOUNDARY.search(content_type):
            content_type = f"{content_type.rstrip('; ')}; {found[0]}"
    if not _is_multipart(content_type):
        return text, content_type
    if text.startswith("--") and "\r\n" not in text:
        text = text.replace("\n", "\r\n")
    if not _SAID_BOUNDARY.search(content_type) and (first := _FIRST_LINE.match(text)) is not None:
        content_type = f"{content_type.rstrip('; ')}; boundary={first[1].strip()}"
    return text, content_type


@dataclass(frozen=True)
class _Parameter:
    name: str
    value: str | None
    file: str
    content_type: str


def _parameters(listed: Any) -> list[_Parameter]:
    """A form's fields; some tools have a table of them."""
    if isinstance(listed, Mapping):
        listed = [{"name": name, "value": value} for name, value in listed.items()]
    return [
        _Parameter(
            str(each.get("name") or ""),
            None if each.get("value") is None else str(each["value"]),
            str(each.get("fileName") or ""),
            str(each.get("contentType") or ""),
        )
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, Mapping)
    ]


def _of_parameters(parameters: Sequence[_Parameter], content_type: str) -> tuple[str, str, str]:
    """A body made of a form's fields, its type, and what it lacks."""
    files = [each for each in parameters if each.file]
    if not _is_multipart(content_type) and not (files and not content_type):
        return _urlencoded(parameters), content_type, _content_of(files)
    content_type = content_type or "multipart/form-data"
    said = _SAID_BOUNDARY.search(content_type)
    boundary = (said[1] or said[2]) if said else BOUNDARY
    if said is None:
        content_type = f"{content_type.rstrip('; ')}; boundary={boundary}"
    parts = "".join(f"--{boundary}\r\n{_part(each)}\r\n" for each in parameters)
    return f"{parts}--{boundary}--\r\n", content_type, _content_of(files)


def _content_of(files: Sequence[_Parameter]) -> str:
    """What a body lacks of the files that it uploads."""
    absent = [each.file for each in files if each.value is None]
    if not absent:
        return _mangled("".join(each.value or "" for each in files))
    rest = f" and {len(absent) - 1} other files" if len(absent) > 1 else ""
    return f"the content of the file {absent[0]}{rest}, which is sent empty"


def _part(field: _Parameter) -> str:
    """A part of multipart/form-data (RFC 7578)."""
    head = f'Content-Disposition: form-data; name="{_quoted(field.name)}"'
    if field.file:
        kind = field.content_type or "application/octet-stream"
        head += f'; filename="{_quoted(field.file)}"\r\nContent-Type: {kind}'
    elif field.content_type:
        head += f"\r\nContent-Type: {field.content_type}"
    return f"{head}\r\n\r\n{field.value or ''}"


def _quoted(name: str) -> str:
    """As browsers write it (WHATWG HTML, multipart/form-data)."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _urlencoded(parameters: Sequence[_Parameter]) -> str:
    """A form's body. Some tools list what was sent, still encoded: that stays as it is."""
    texts = [text for each in parameters for text in (each.name, each.value or "")]
    encoded = all(map(_ENCODED.fullmatch, texts)) and any("%" in text for text in texts)
    write = str if encoded else quote_plus
    return "&".join(f"{write(each.name)}={write(each.value or '')}" for each in parameters)
