"""A site at a UNIX socket, or at a port with pages that ask such a site.

python3 at_socket.py SOCKET                  a site that answers HTTP at a UNIX socket
python3 at_socket.py PORT ADDRESS SOCKET     each page asks the site at SOCKET, by a connection that
                                             is kept
"""

from __future__ import annotations

import http.client
import socket
import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Behind(http.client.HTTPConnection):
    """A connection to a site at a UNIX socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        name = self.path
        self.sock.connect("\0" + name[1:] if name.startswith("@") else name)


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behind: Behind | None = None
    lock = threading.Lock()

    def log_message(self, *_: object) -> None:
        pass

    def address_string(self) -> str:
        return "unix"

    def do_GET(self) -> None:
        if self.behind is not None:
            with self.lock:
                self.behind.request("GET", "/behind")
                self.behind.getresponse().read()
        body = b'<a href="/more">more</a>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class Server(ThreadingHTTPServer):
    daemon_threads = True


if __name__ == "__main__":
    if len(sys.argv) == 2:
        where = sys.argv[1]
        if where.startswith("@"):
            where = "\0" + where[1:]
        else:
            Path(where).unlink(missing_ok=True)
        UnixServer(where, Site).serve_forever()
    Site.behind = Behind(sys.argv[3])
    Server((sys.argv[2], int(sys.argv[1])), Site).serve_forever()
