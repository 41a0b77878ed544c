"""Records a visit as a browser's developer tools save it (HAR): python3 visit.py SITE FILE <STEPS

Each line of STEPS is a method, a path and what is sent: nothing, a form's fields, or JSON. A form's
hidden fields are those of the page before it. `AUTH NAME:PASSWORD` has all that follow send it. A
step that fails ends the recording.
"""

from __future__ import annotations

import base64
import html
import http.cookiejar
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime

HIDDEN = re.compile(r"<input[^>]*type=\"?hidden\"?[^>]*>", re.I)
ATTRIBUTE = re.compile(r"(\w+)=(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
LONGEST_S = 30


def main() -> None:
    site, file = sys.argv[1:]
    jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    opener = urllib.request.build_opener(jar, Unfollowed)
    page, entries = "", []
    for line in sys.stdin:
        method, path, sent = [*line.rstrip("\n").split(" ", 2), "", ""][:3]
        if method == "AUTH":
            token = base64.b64encode(path.encode()).decode()
            Unfollowed.always["Authorization"] = f"Basic {token}"
        elif path.startswith("/"):
            page = step(opener, entries, method, site + path, body(sent, page), sent[:1] == "{")
    with open(file, "w", encoding="utf-8") as made:
        json.dump({"log": {"version": "1.2", "entries": entries}}, made, indent=1)


class Unfollowed(urllib.request.HTTPRedirectHandler):
    """Each redirection is a step of the recording."""

    always: dict[str, str] = {}

    def redirect_request(self, *_):
        return None


def body(sent: str, page: str) -> str:
    if not sent or sent[:1] == "{":
        return sent
    tags = (dict(attributes(tag)) for tag in HIDDEN.findall(page))
    hidden = {tag["name"]: tag.get("value", "") for tag in tags if "name" in tag}
    return urllib.parse.urlencode(hidden | dict(urllib.parse.parse_qsl(sent)))


def attributes(tag: str):
    for name, *values in ATTRIBUTE.findall(tag):
        yield name.lower(), html.unescape("".join(values))


def step(opener, entries, method: str, url: str, sent: str, is_json: bool) -> str:
    kind = "application/json" if is_json else "application/x-www-form-urlencoded"
    headers = {"Accept": "text/html,application/json"} | Unfollowed.always | ({"Content-Type": kind} if sent else {})
    request = urllib.request.Request(url, sent.encode() or None, headers, method=method)
    began, at = time.monotonic(), datetime.now(UTC)
    try:
        reply = opener.open(request, timeout=LONGEST_S)
    except urllib.error.HTTPError as told:
        if told.code >= 400:
            raise
        reply = told
    text = reply.read().decode("utf-8", "replace")
    location = reply.headers.get("Location", "")
    entries.append(
        {
            "startedDateTime": at.isoformat(),
            "time": (time.monotonic() - began) * 1000,
            "_resourceType": "document",
            "request": {
                "method": method,
                "url": url,
                "headers": [{"name": name, "value": value} for name, value in headers.items()],
                "cookies": [],
                **({"postData": {"mimeType": kind, "text": sent}} if sent else {}),
            },
            "response": {
                "status": reply.status,
                "redirectURL": location,
                "headers": [{"name": name, "value": value} for name, value in reply.headers.items()],
                "content": {"mimeType": reply.headers.get_content_type(), "text": text},
            },
        }
    )
    if not location:
        time.sleep(0.1)
        return text
    return step(opener, entries, "GET", urllib.parse.urljoin(url, location), "", False)


if __name__ == "__main__":
    main()
