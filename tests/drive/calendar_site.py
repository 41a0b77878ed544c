"""A small real HTTP server that is a calendar of events to its users: logins that redirect, a
session by cookie, pages with images and static files, forms with files. It is a process of its own.

    python calendar_site.py LOG [--delay-ms N]

prints its port. The log has a line of JSON a request: what was asked for, and what its form holds
as Python's own parser of MIME reads it.
"""

from __future__ import annotations

import argparse
import email
import itertools
import json
import sys
import threading
import time
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

IMAGE_BYTES = 2_000
IMAGES = "".join(f'<img src="file?{n}">' for n in (1, 2, 3, 3)) + '<img src="logo.png">'
EVENTS = "".join(f'<a href="event?event={n}">e</a>' for n in range(5))
SESSIONS = itertools.count(1)


class Calendar(BaseHTTPRequestHandler):
    """Keeps connections, so that a user's requests come on one."""

    protocol_version = "HTTP/1.1"
    options: argparse.Namespace
    log: Any
    lock = threading.Lock()

    def do_GET(self) -> None:
        self._note({})
        path = urlsplit(self.path).path
        if path.startswith("/static/"):
            since = self.headers.get("If-Modified-Since")
            self._reply(304 if since else 200, b"" if since else b"x" * 500)
        elif path == "/file":
            self._reply(200, b"i" * IMAGE_BYTES)
        elif path == "/logout":
            self._reply(200, b"bye", [("Set-Cookie", "SID=gone; Max-Age=0")])
        elif path == "/home":
            self._reply(200, (IMAGES + EVENTS).encode())
        else:
            self._reply(200, b"Attend")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kind = self.headers["Content-Type"]
        if kind.startswith("multipart/"):
            message = email.message_from_bytes(
                f"Content-Type: {kind}\r\n\r\n".encode() + body, policy=HTTP
            )
            form = {
                part.get_param("name", header="content-disposition"): [
                    part.get_filename(),
                    part.get_content_type(),
                    (part.get_payload(decode=True) or b"").decode("latin-1"),
                ]
                for part in message.iter_parts()
            }
        else:
            form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        self._note(form)
        if self.path == "/login":
            with self.lock:
                session = next(SESSIONS)
            headers = [("Set-Cookie", f"SID=s{session}; path=/"), ("Location", "/home")]
            self._reply(302, b"", headers)
        else:
            self._reply(200, b"done")

    def _note(self, form: dict[str, Any]) -> None:
        if self.options.delay_ms:
            time.sleep(self.options.delay_ms / 1000)
        line = {
            "method": self.command,
            "path": self.path,
            "cookie": self.headers.get("Cookie"),
            "since": self.headers.get("If-Modified-Since"),
            "id": self.headers.get("X-Request-Id"),
            "form": form,
        }
        with self.lock:
            self.log.write(json.dumps(line) + "\n")

    def _reply(
        self, status: int, body: bytes, headers: list[tuple[str, str]] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers or []:
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("log", type=argparse.FileType("w", bufsize=1, encoding="utf-8"))
    parser.add_argument("--delay-ms", type=float, default=0)
    Calendar.options = parser.parse_args()
    Calendar.log = Calendar.options.log
    server = Server(("127.0.0.1", 0), Calendar)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
