"""A threaded server that asks another twice for each page, one call after the other, on fresh
connections; the other keeps its connections and does what its path says. `pool` is the first one
behind waitress, in which one thread reads all requests and eight others work on them and reply.

    python two_calls.py front|pool|back ADDRESS PORT [BACK]
"""

from __future__ import annotations

import fcntl
import http.server
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path


def compute(seconds: float) -> None:
    """Use a CPU for so long."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def lock(seconds: float) -> None:
    """Have a file's lock waited for: another descriptor holds it for so long."""
    with tempfile.NamedTemporaryFile() as held, Path(held.name).open() as wanted:
        fcntl.flock(held, fcntl.LOCK_EX)
        threading.Timer(seconds, lambda: fcntl.flock(held, fcntl.LOCK_UN)).start()
        fcntl.flock(wanted, fcntl.LOCK_EX)


PAGE = b"<a href='/wait/compute'>c</a><a href='/wait/lock'>l</a><a href='/wait/sleep'>s</a>"


def page(path: str) -> bytes:
    """Make a page of two calls; `/wait/<what>` asks for the first of them what that says."""
    what = path.rpartition("/")[2] or "stock"
    for each in (what, "total"):
        urllib.request.urlopen(f"http://{sys.argv[4]}/{each}").read()
    return PAGE


def application(environ: dict[str, str], start_response: Callable[..., object]) -> list[bytes]:
    """Answer as `Front` does (PEP 3333)."""
    body = page(environ["PATH_INFO"])
    start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", str(len(body)))])
    return [body]


class Front(http.server.BaseHTTPRequestHandler):
    """Asks `BACK` twice."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer with a page."""
        body = page(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Back(http.server.BaseHTTPRequestHandler):
    """Does what its path says."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Compute, wait for a lock or sleep for 20 ms, or answer at once."""
        does = {"compute": compute, "lock": lock, "sleep": time.sleep}
        does.get(self.path[1:], lambda _: None)(0.02)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


class Server(http.server.ThreadingHTTPServer):
    """A thread for each connection."""

    request_queue_size = 128


if sys.argv[1] == "pool":
    import waitress  # Debian's: only this mode needs it.

    waitress.serve(application, host=sys.argv[2], port=int(sys.argv[3]), threads=8)
else:
    handler = {"front": Front, "back": Back}[sys.argv[1]]
    Server((sys.argv[2], int(sys.argv[3])), handler).serve_forever()
