"""A visit to the shop as a browser would record it, without a browser: replies from the shop."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.own.conftest import FOLDER
from tests.own.shop import PASSWORD

PORT = 18_000 + os.getpid() % 4_000
"""This process's own: tests run beside each other."""
ADDRESS = "127.0.0.1"
THINK_S = 2.0
"""Between two pages, in the recording alone."""
NAMED = """
import runpy, sys
_, name, *sys.argv = sys.argv
with open("/proc/self/comm", "w") as comm:
    comm.write(name)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@contextmanager
def running_shop(port: int = PORT, name: str | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """The shop, started by somebody else than Tierlab; by another name if one is said."""
    named = [] if name is None else ["-c", NAMED, name]
    shop = subprocess.Popen([sys.executable, *named, FOLDER / "shop.py", str(port), ADDRESS])
    try:
        for _ in range(200):
            try:
                connection = http.client.HTTPConnection(ADDRESS, port, timeout=1)
                connection.request("GET", "/style.css")
                break
            except OSError:
                time.sleep(0.02)
        yield shop
    finally:
        shop.kill()
        shop.wait()


class Visitor:
    """Asks for pages one after the other, and keeps them as HAR's entries."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._cookie = ""
        self._at = 0.0

    def ask(self, method: str, target: str, body: str = "", kind: str = "", **headers: str) -> str:
        """The reply's text; a redirection is followed, as an entry of its own."""
        connection = http.client.HTTPConnection(ADDRESS, PORT, timeout=5)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"Cookie": self._cookie} if self._cookie else {}
        sent |= {"Content-Type": kind} if kind else {}
        connection.request(method, target, body or None, sent)
        reply = connection.getresponse()
        text = reply.read().decode()
        if (cookie := reply.getheader("Set-Cookie")) is not None:
            self._cookie = cookie.partition(";")[0]
        location = reply.getheader("Location") or ""
        posted = {"postData": {"mimeType": kind, "text": body}} if body else {}
        self.entries.append(
            {
                "startedDateTime": f"2026-01-01T00:00:{self._at:06.3f}Z",
                "time": 10.0,
                "request": {
                    "method": method,
                    "url": f"http://{ADDRESS}:{PORT}{target}",
                    "headers": [{"name": name, "value": value} for name, value in sent.items()],
                    **posted,
                },
                "response": {
                    "status": reply.status,
                    "redirectURL": location,
                    "content": {
                        "mimeType": reply.getheader("Content-Type") or "",
                        "text": text,
                    },
                },
            }
        )
        self._at += 0.02 if location else THINK_S
        return self.ask("GET", location) if location else text


def made_visit(file: Path) -> None:
    """Write the recording of a visit that logs in, searches, buys, and looks at the order."""
    with running_shop():
        visitor = Visitor()
        home = visitor.ask("GET", "/")
        token = found(r'value="([^"]+)" name="csrf"', home)
        visitor.ask("GET", "/style.css")
        form = {"csrf": token, "user": "alice", "password": PASSWORD}
        visitor.ask("POST", "/login", urlencode(form), "application/x-www-form-urlencoded")
        results = visitor.ask("GET", "/search?q=Thing+1")
        item = found(r"/items/(\d+)", results)
        visitor.ask("GET", f"/items/{item}")
        put = json.dumps({"item": item, "count": 1})
        visitor.ask("POST", "/api/basket", put, "application/json", X_CSRF_Token=token)
        visitor.ask("GET", "/basket")
        form = {"csrf": token}
        visitor.ask("POST", "/orders", urlencode(form), "application/x-www-form-urlencoded")
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": visitor.entries}}))


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None, text
    return match[1]
