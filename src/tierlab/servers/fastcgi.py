"""One request by FastCGI, to see whether a server answers.

Source: FastCGI Specification 1.0 (Open Market, 1996), sections 3 and 8.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping

from tierlab.servers.base import NotReadyError

VERSION, BEGIN_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT = 1, 1, 3, 4, 5, 6
RESPONDER = 1
REQUEST_ID = 1
HEADER = struct.Struct("!BBHHBx")


def fastcgi_get(connect: Callable[[], socket.socket], script: str, path: str) -> None:
    """Ask for a page, whose file is `script` with its path; ready is any status but an error's."""
    with connect() as link:
        link.sendall(
            _record(BEGIN_REQUEST, struct.pack("!HB5x", RESPONDER, 0))
            + _record(PARAMS, _pairs(_parameters(script, path)))
            + _record(PARAMS, b"")
            + _record(STDIN, b"")
        )
        answer = _answer(link)
    head = answer.partition(b"\r\n\r\n")[0].decode("latin-1")
    status = next(
        (line[7:].strip() for line in head.splitlines() if line.lower().startswith("status:")),
        "200",
    )
    if not status.startswith(("2", "3")):
        raise NotReadyError(f"GET {path} answers {status}")


def _parameters(script: str, path: str) -> Mapping[str, str]:
    name, _, query = path.partition("?")
    return {
        "REQUEST_METHOD": "GET",
        "SCRIPT_FILENAME": script.format(name),
        "SCRIPT_NAME": name,
        "REQUEST_URI": path,
        "QUERY_STRING": query,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "GATEWAY_INTERFACE": "CGI/1.1",
    }


def _pairs(parameters: Mapping[str, str]) -> bytes:
    encoded = ((name.encode(), value.encode()) for name, value in parameters.items())
    return b"".join(_length(name) + _length(value) + name + value for name, value in encoded)


def _length(text: bytes) -> bytes:
    return bytes([len(text)]) if len(text) < 128 else struct.pack("!I", len(text) | 1 << 31)


def _record(kind: int, content: bytes) -> bytes:
    return HEADER.pack(VERSION, kind, REQUEST_ID, len(content), 0) + content


def _answer(link: socket.socket) -> bytes:
    """All of the reply's output."""
    output = b""
    with link.makefile("rb") as stream:
        while len(head := stream.read(HEADER.size)) == HEADER.size:
            _, kind, _, length, padding = HEADER.unpack(head)
            content = stream.read(length)
            stream.read(padding)
            if kind == STDOUT:
                output += content
            if kind == END_REQUEST:
                return output
    raise NotReadyError("it closed the connection on a FastCGI request")
