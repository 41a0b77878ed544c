"""One request as a line of an access log has it, whatever the line's format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from tierlab.exchange.log_lines.addresses import Addresses

NOTHING = frozenset({"", "-", '""', '"-"'})
"""How formats write that a field has no value."""
STATUSES = frozenset(map(int, HTTPStatus)) | {0, 419, 430, 444, 460, 463, 499, 509, 529, 561}
STATUSES |= set(range(490, 500)) | set(range(520, 531))
"""The registered ones, and those that nginx, Cloudflare, AWS and frameworks add; 0: no reply."""
_REQUEST = re.compile(r"(?P<method>[^\s\"]+)[ \t]+(?P<target>.*?)(?:[ \t]+HTTP/[\d.]+)?", re.DOTALL)
_ESCAPED = re.compile(r'\\(?:x([0-9A-Fa-f]{2})|(["\\]))')
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))


@dataclass(frozen=True, slots=True)
class Entry:
    """What a line tells of a request. Absent texts are empty."""

    time_ns: int
    """Since the epoch."""
    clients: tuple[Addresses, ...]
    """The fields that may be the client's address, in their order; several where a format has more
    than one address before the request."""
    forwarded: tuple[tuple[str, Addresses], ...]
    """The fields that may be the addresses that a proxy forwarded, each with its name."""
    user: str
    agent: str
    method: str
    target: str
    """In origin form where the log has the absolute form."""
    host: str
    status: int
    form: str
    """The name of the format."""


def value(text: str) -> str:
    """Return the text of a field, empty where it says that there is none."""
    stripped = text.strip()
    return "" if stripped in NOTHING else stripped


def request_parts(text: str) -> tuple[str, str, str]:
    """Return the method, the target and the host of a request line. The host is empty unless the
    target is absolute; method and target are empty for a line that is no request.
    """
    found = _REQUEST.fullmatch(_unescaped(text.strip()))
    if found is None:
        return "", "", ""
    target, host = origin_form(found["target"].strip())
    return found["method"], target, host


def origin_form(target: str) -> tuple[str, str]:
    """Return a target without scheme and host, and the host. Bytes beyond ASCII are
    percent-encoded, as a browser sends them.
    """
    host = ""
    if target[:8].lower().startswith(("http://", "https://")):
        scheme, _, rest = target.partition("://")
        end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
        host = _host(f"{scheme}://{rest[:end]}")
        target = rest[end:]
        if not target.startswith("/"):
            target = f"/{target}"
    return (target if target.isascii() else quote(target, safe=_PRINTABLE)), host


def is_status(text: str) -> bool:
    """Whether a text is a status that servers answer with."""
    return len(text) == 3 and text.isascii() and text.isdigit() and int(text) in STATUSES


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _unescaped(text: str) -> str:
    """Apache and nginx write quotes, backslashes and bytes of other kinds escaped."""
    if "\\" not in text:
        return text
    raw = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], text)
    try:
        return raw.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return raw
