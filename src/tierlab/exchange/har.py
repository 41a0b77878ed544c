"""HAR 1.2 files, which browsers write of what they sent and got.

Source: W3C Web Performance Working Group, HTTP Archive (HAR) format, editor's draft of 2012; what
Chromium adds begins with an underscore.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tierlab.errors import UserError

MOST_BYTES = 256 << 20
"""Read into memory at once, and three times as much while it is."""


@dataclass(frozen=True)
class Exchange:
    """A request and its reply, as a browser saw them. Times are nanoseconds since the epoch."""

    start_ns: int
    end_ns: int
    method: str
    scheme: str
    host: str
    """With the port where it is said."""
    target: str
    """Path and query as they were sent."""
    headers: tuple[tuple[str, str], ...]
    body: str | None
    body_type: str
    """Without parameters, in lower case; empty where there is no body."""
    status: int
    """0 where no reply came."""
    location: str
    """Where the reply sent the browser; empty where nowhere."""
    reply: str
    """Its text; empty where the file has none, or it is none."""
    reply_type: str
    resource: str
    """What the browser wanted it for, by Chromium's names; empty where the file does not say."""
    cookies: tuple[tuple[str, str], ...]
    """Those sent."""


def read_har(path: Path) -> tuple[Exchange, ...]:
    """The exchanges of a file in the order of their starts; `UserError` where it is none."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserError(f"{path}: is over {MOST_BYTES >> 20} MiB; record fewer pages at once.")
        document = json.loads(path.read_bytes())
        entries = document["log"]["entries"]
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UserError(
            f"{path}: is no HAR file; save one from a browser's developer tools (Network, Save all"
            " as HAR)."
        ) from None
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{path}: has no requests; record some pages first.")
    found = []
    for number, entry in enumerate(entries, start=1):
        try:
            found.append(_exchange(entry))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(
                f"{path}: request {number} is not of HAR's form ({error!r}); save the file anew."
            ) from None
    return tuple(sorted(found, key=lambda each: each.start_ns))


def _exchange(entry: dict[str, Any]) -> Exchange:
    request, reply = entry["request"], entry["response"]
    start_ns = round(datetime.fromisoformat(entry["startedDateTime"]).timestamp() * 1e9)
    length_ns = round(max(0.0, float(entry.get("time") or 0)) * 1e6)
    url = urlsplit(request["url"])
    posted = request.get("postData") or {}
    content = reply.get("content") or {}
    return Exchange(
        start_ns=start_ns,
        end_ns=start_ns + length_ns,
        method=str(request["method"]).upper(),
        scheme=url.scheme,
        host=url.netloc.rpartition("@")[2],
        target=(url.path or "/") + (f"?{url.query}" if url.query else ""),
        headers=_pairs(request.get("headers")),
        body=_body(posted),
        body_type=_type(posted.get("mimeType")),
        status=max(0, int(reply["status"])),
        location=str(reply.get("redirectURL") or ""),
        reply=_text(content),
        reply_type=_type(content.get("mimeType")),
        resource=str(entry.get("_resourceType") or "").lower(),
        cookies=_pairs(request.get("cookies")),
    )


def _pairs(listed: Any) -> tuple[tuple[str, str], ...]:
    return tuple((str(each["name"]), str(each["value"])) for each in listed or ())


def _body(posted: dict[str, Any]) -> str | None:
    if not posted:
        return None
    if (text := posted.get("text")) is not None:
        return str(text)
    from urllib.parse import urlencode

    return urlencode(_pairs(posted.get("params")))


def _type(said: Any) -> str:
    return str(said or "").partition(";")[0].strip().lower()


def _text(content: dict[str, Any]) -> str:
    text = content.get("text")
    if not isinstance(text, str):
        return ""
    if content.get("encoding") != "base64":
        return text
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", errors="replace")
    except (binascii.Error, ValueError):
        return ""
