"""The values of a recorded request, each where it stands: in its path, query, headers or body."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, unquote_plus

from tierlab.exchange.har import Exchange

FORM = "application/x-www-form-urlencoded"
FIRST = "/"
"""What the first segment of a path is called; another is called as the one before it."""
DATE = re.compile(r"/(?:19|20)\d\d/(?:0?[1-9]|1[0-2])(?:/\d\d?)?(?=/|$)")
"""A month or a day in a path, of whose numbers none means anything without the others."""
LEFT_OUT = re.compile(
    # What the driver has its own of, or a connection has; what tells where a browser was.
    r"host|connection|keep-alive|proxy-.*|transfer-encoding|te|trailer|expect|upgrade(?:-.*)?|"
    r"http2-settings|content-(?:length|type|encoding|md5)|cookie|user-agent|accept-encoding|origin|"
    r"referer|sec-.*|dnt|priority|alt-used|via|forwarded|x-forwarded-?.*|x-real-ip|"
    # What asks a cache, which users begin without.
    r"if-none-match|if-modified-since|cache-control|pragma|"
    # What is of one request alone: said again it would link requests, or be answered from a store.
    r"(?:x-)?request-id|traceparent|tracestate|baggage|sentry-trace|b3|x-b3-.*|"
    r"(?:x-)?idempotency-key",
    re.I,
)
"""Headers that users do not send as they were recorded; a program may need any other."""
HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
"""What a header may be called (RFC 9110 section 5.6.2), HTTP/2's own (`:path`) being none."""
SCHEME = re.compile(r"(?:Bearer|Token|JWT|DPoP|OAuth|Api-?Key)\s+(?=\S+$)", re.I)
"""What says how a header's token is meant, as in ``Authorization: Bearer ...`` (RFC 6750)."""
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?')
"""A string or a number of JSON's."""
PART = re.compile(r'(name="([^"]*)"[^\r\n]*(?:\r\n[^\r\n]+)*\r\n\r\n)(.*?)(?=\r\n--)', re.DOTALL)
"""A field of multipart/form-data (RFC 7578)."""

Place = Literal["path", "query", "header", "form", "body"]
Kind = Literal["form", "json", "multipart", "plain"]


@dataclass(frozen=True)
class Slot:
    """A value, or a text between values; `name` is empty where it is none that could change."""

    place: Place
    name: str
    value: str
    """As it is meant: not encoded."""
    raw: str
    """As it stands."""
    fixed: bool = False
    """Whether nobody sends another, though it looks as an id or a token does."""


def target_slots(target: str, base: str = "") -> Iterator[Slot]:
    """What a target consists of: each segment of its path, each value of its query. A path that
    begins with `base` begins so for every user.
    """
    path, mark, query = target.partition("?")
    dated, before = _dated(path), FIRST
    for number, segment in enumerate(path.split("/")[1:]):
        fixed = number in dated or (number == 0 and segment == base)
        yield Slot("path", "", "/", "/")
        yield Slot("path", before, unquote(segment), segment, fixed)
        before = segment
    if not mark:
        return
    for number, pair in enumerate(query.split("&")):
        name, equals, value = pair.partition("=")
        lead = f"{'&' if number else '?'}{name}{equals}"
        yield Slot("query", "", lead, lead)
        if value:
            yield Slot("query", unquote_plus(name), unquote_plus(value), value)


def _dated(path: str) -> range:
    """Which segments of a path are a date."""
    found = DATE.search(path)
    if found is None:
        return range(0)
    first = path.count("/", 0, found.start())
    return range(first, first + found[0].count("/"))


def header_slots(exchange: Exchange) -> Iterator[tuple[str, list[Slot]]]:
    """The headers that a program may need: what each is called, and what it consists of."""
    for name, value in exchange.headers:
        if HEADER.fullmatch(name) and not LEFT_OUT.fullmatch(name):
            scheme = SCHEME.match(value)
            at = scheme.end() if scheme else 0
            lead, rest = value[:at], value[at:]
            yield name, [Slot("header", "", lead, lead), Slot("header", name, rest, rest)]


def says_origin(exchange: Exchange) -> bool:
    """Whether a request said from which site it came; users say the site as they ask for it."""
    said = (value for name, value in exchange.headers if name.lower() == "origin")
    return any(value not in ("", "null") for value in said)


def body_kind(exchange: Exchange) -> Kind:
    """What a body is: by its type, or by its looks where programs leave that to their library."""
    body, said = exchange.body or "", exchange.body_type
    if said == "multipart/form-data":
        return "multipart"
    if "json" in said or is_json(body):
        return "json"
    return "form" if said in (FORM, "") and "=" in body else "plain"


def body_slots(exchange: Exchange) -> Iterator[Slot]:
    """What a body consists of; nothing of one that is of no known kind."""
    body, kind = exchange.body or "", body_kind(exchange)
    if kind == "form":
        yield from _form_slots(body)
    elif kind == "multipart":
        yield from _cut(body, ((m.start(3), m.end(3), m[2], m[3]) for m in PART.finditer(body)))
    elif kind == "json":
        yield from _cut(body, _json_values(body))


def _form_slots(body: str) -> Iterator[Slot]:
    for number, pair in enumerate(body.split("&")):
        name, equals, value = pair.partition("=")
        lead = f"{'&' if number else ''}{name}{equals}"
        yield Slot("form", "", lead, lead)
        yield Slot("form", unquote_plus(name), unquote_plus(value), value)


def is_json(body: str) -> bool:
    """Whether it is an object or a list of JSON's."""
    if not body.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _json_values(body: str) -> Iterator[tuple[int, int, str, str]]:
    """Where each string and number stands, which is no key, under which key, and what it is."""
    key = ""
    for token in TOKEN.finditer(body):
        text = token[0]
        if text.startswith('"') and body[token.end() :].lstrip().startswith(":"):
            key = text[1:-1]
        elif text.startswith('"'):
            try:
                meant = json.loads(text)
            except ValueError:
                continue
            yield token.start() + 1, token.end() - 1, key, meant
        else:
            yield token.start(), token.end(), key, text


def _cut(body: str, values: Iterator[tuple[int, int, str, str]]) -> Iterator[Slot]:
    at = 0
    for start, end, name, meant in values:
        yield Slot("body", "", body[at:start], body[at:start])
        yield Slot("body", name or "value", meant, body[start:end])
        at = end
    yield Slot("body", "", body[at:], body[at:])
