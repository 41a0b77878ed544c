"""A server whose pages ask others, each time by a connection of its own that is closed at once.

python3 front.py PORT ADDRESS [redis|http|silent:ADDRESS:PORT ...]
"""

from __future__ import annotations

import http.client
import socket
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ASKED = [each.split(":") for each in sys.argv[3:]]
COMMAND = b"*2\r\n$3\r\nGET\r\n$5\r\nthing\r\n"


def ask(kind: str, address: str, port: int) -> None:
    if kind == "http":
        connection = http.client.HTTPConnection(address, port)
        connection.request("GET", "/")
        connection.getresponse().read()
        connection.close()
        return
    with socket.create_connection((address, port), timeout=1) as connected:
        if kind == "redis":
            connected.sendall(COMMAND)
            connected.recv(100)


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        for kind, address, port in ASKED:
            with suppress(OSError):
                ask(kind, address, int(port))
        body = b'<a href="/more">more</a>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True


if __name__ == "__main__":
    Server((sys.argv[2], int(sys.argv[1])), Front).serve_forever()
