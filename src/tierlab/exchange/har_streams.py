"""Recorded exchanges that are no request and reply: websockets and streams of events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from tierlab.exchange.har_fields import Pairs, as_table, header, media_type

UNKNOWN_TYPES = frozenset({"", "x-unknown", "application/x-unknown", "unknown"})
STREAMS = frozenset({"text/event-stream", "multipart/x-mixed-replace"})
"""Types of replies that go on until somebody hangs up."""
WEBSOCKETS = frozenset({"websocket", "webtransport"})
"""As Chromium calls them, and as an `Upgrade` header does."""
HANDSHAKES = ("sec-websocket-key", "sec-websocket-version", "sec-websocket-accept")
SWITCHED = 101

Stream = Literal["", "event stream", "websocket"]


def stream_of(
    entry: Mapping[str, Any], scheme: str, headers: Pairs, answers: Pairs, status: int
) -> Stream:
    """Return what an entry is instead of a request and its reply, by any of the marks that browsers
    and proxies leave: of the address, the headers of both sides, the status, or Chromium's own.
    """
    resource = str(entry.get("_resourceType") or "").strip().lower()
    if scheme in ("ws", "wss") or status == SWITCHED or resource in WEBSOCKETS:
        return "websocket"
    if entry.get("_webSocketMessages") or _shakes_hands((*headers, *answers)):
        return "websocket"
    content = as_table(as_table(entry.get("response")).get("content"))
    types = {media_type(content.get("mimeType")), media_type(header(answers, "content-type"))}
    if resource == "eventsource" or types & STREAMS:
        return "event stream"
    # A program that takes JSON as well as events says both, and gets either.
    wanted = {media_type(each) for each in header(headers, "accept").split(",")}
    alone = wanted <= {"text/event-stream", "*/*"} or types <= UNKNOWN_TYPES
    return "event stream" if "text/event-stream" in wanted and alone else ""


def _shakes_hands(headers: Pairs) -> bool:
    """Whether headers are those by which a websocket opens (RFC 6455, RFC 8441)."""
    upgrades = f"{header(headers, 'upgrade')},{header(headers, ':protocol')}".lower()
    return bool(WEBSOCKETS & {each.strip() for each in upgrades.split(",")}) or any(
        header(headers, name) for name in HANDSHAKES
    )
