"""Records a visit as a browser's developer tools save it (HAR): python3 visit.py SITE FILE <STEPS.

Each line of STEPS is a method, a path and what is sent: nothing, a form's fields, or JSON. A form's
hidden fields are those of the page before it. `AUTH NAME:PASSWORD` has all that follow send it, and
`BEARER KEY` a token that the JSON before it has. A step that fails ends the recording.
"""

from __future__ import annotations

import base64
import html
import http.client
import http.cookiejar
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path
from typing import Any

HIDDEN = re.compile(r"<input[^>]*type=\"?hidden\"?[^>]*>", re.I)
ATTRIBUTE = re.compile(r"(\w+)=(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
LONGEST_S = 30
PAUSE_S = 0.1


class Unfollowed(urllib.request.HTTPRedirectHandler):
    """Each redirection is a step of the recording."""

    def redirect_request(self, *_: object) -> None:
        """Follow none."""


class Visit:
    """A visitor, and what was sent and came so far."""

    def __init__(self, site: str) -> None:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(jar, Unfollowed)
        self.site = site
        self.page = ""
        self.headers = {"Accept": "text/html,application/json"}
        self.entries: list[dict[str, Any]] = []

    def step(self, line: str) -> None:
        """Do what a line says."""
        method, path, sent = [*line.rstrip("\n").split(" ", 2), "", ""][:3]
        if method == "AUTH":
            token = base64.b64encode(path.encode()).decode()
            self.headers["Authorization"] = f"Basic {token}"
        elif method == "BEARER":
            self.headers["Authorization"] = f"Bearer {json.loads(self.page)[path]}"
        elif path:
            self.ask(method, self.site + path, sent if sent[:1] == "{" else self.form(sent))
            time.sleep(PAUSE_S)

    def form(self, fields: str) -> str:
        """Return the fields with the page's hidden ones."""
        if not fields:
            return ""
        tags = (dict(attributes(tag)) for tag in HIDDEN.findall(self.page))
        hidden = {tag["name"]: tag.get("value", "") for tag in tags if "name" in tag}
        return urllib.parse.urlencode(hidden | dict(urllib.parse.parse_qsl(fields)))

    def ask(self, method: str, url: str, sent: str) -> None:
        """Send it, and follow where the reply leads."""
        kind = "application/json" if sent[:1] == "{" else "application/x-www-form-urlencoded"
        headers = self.headers | ({"Content-Type": kind} if sent else {})
        request = urllib.request.Request(url, sent.encode() or None, headers, method=method)
        began, at = time.monotonic(), datetime.now(UTC)
        status, told, text = self.reply(request)
        self.entries.append(
            {
                "startedDateTime": at.isoformat(),
                "time": (time.monotonic() - began) * 1000,
                "_resourceType": "document",
                "request": {
                    "method": method,
                    "url": url,
                    "headers": pairs(headers),
                    "cookies": [],
                    **({"postData": {"mimeType": kind, "text": sent}} if sent else {}),
                },
                "response": {
                    "status": status,
                    "redirectURL": told.get("Location", ""),
                    "headers": pairs(dict(told.items())),
                    "content": {"mimeType": told.get_content_type(), "text": text},
                },
            }
        )
        if location := told.get("Location"):
            self.ask("GET", urllib.parse.urljoin(url, location), "")
        else:
            self.page = text

    def reply(self, request: urllib.request.Request) -> tuple[int, Message, str]:
        """Return its status, headers and text; whatever is no success or redirection is raised."""
        try:
            reply: http.client.HTTPResponse = self.opener.open(request, timeout=LONGEST_S)
        except urllib.error.HTTPError as other:
            if other.code >= 400:
                raise
            return other.code, other.headers, other.read().decode("utf-8", "replace")
        return reply.status, reply.headers, reply.read().decode("utf-8", "replace")


def attributes(tag: str) -> Iterator[tuple[str, str]]:
    for name, *values in ATTRIBUTE.findall(tag):
        yield name.lower(), html.unescape("".join(values))


def pairs(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def main() -> None:
    visit = Visit(sys.argv[1])
    for line in sys.stdin:
        visit.step(line)
    log = {"log": {"version": "1.2", "entries": visit.entries}}
    Path(sys.argv[2]).write_text(json.dumps(log, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
