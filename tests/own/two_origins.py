"""A page, or an API, which a page on another port asks; run as a server of a trial.

two_origins.py PORT ADDRESS page|api
"""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = {"/": "<h1>shop</h1>", "/about": "about"}
ITEMS = {"/items": '[{"id": 4711123}]', "/items/4711123": '{"id": 4711123}'}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages = PAGES

    def answer(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        text = self.pages.get(self.path)
        body = ("nothing here" if text is None else text).encode()
        self.send_response(404 if text is None else 200)
        kind = "application/json" if self.pages is ITEMS else "text/html"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    port, address, kind = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    Handler.pages = {"page": PAGES, "api": ITEMS}[kind]
    ThreadingHTTPServer((address, port), Handler).serve_forever()
