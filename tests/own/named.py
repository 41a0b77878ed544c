"""A site that answers to one name only, and whose links say it.

python3 named.py PORT ADDRESS
"""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "shop.example"
PAGES = {"/": f"http://{NAME}/x", "/x": f"http://{NAME}/"}


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        is_known = self.headers["Host"] == NAME and self.path in PAGES
        body = f'<a href="{PAGES[self.path]}">on</a>'.encode() if is_known else b""
        self.send_response(200 if is_known else 400)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True


if __name__ == "__main__":
    Server((sys.argv[2], int(sys.argv[1])), Site).serve_forever()
