"""Greetings against peers that answer right, wrongly and not at all."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tierlab.servers.address import Address
from tierlab.servers.base import NotReadyError, Server, Settings
from tierlab.servers.command import Command
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.greetings import (
    AJP_CPING,
    AJP_CPONG,
    ajp_ping,
    http2_get,
    http_get,
    mysql_login,
    mysql_select,
)
from tierlab.servers.image import Image


def peer(answer: bytes, heard: list[bytes] | None = None) -> Callable[[], socket.socket]:
    """Give connections to a peer that reads once, sends `answer` and closes."""

    def connect() -> socket.socket:
        ours, theirs = socket.socketpair()

        def serve() -> None:
            with theirs:
                said = theirs.recv(65_536)
                if heard is not None:
                    heard.append(said)
                theirs.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        ours.settimeout(5)
        return ours

    return connect


def test_ajp_is_ready_on_a_cpong() -> None:
    heard: list[bytes] = []
    ajp_ping(peer(AJP_CPONG, heard))
    assert heard == [AJP_CPING]


@pytest.mark.parametrize("answer", [b"", AJP_CPONG[:3], b"HTTP/"])
def test_ajp_is_not_ready_on_anything_else(answer: bytes) -> None:
    with pytest.raises(NotReadyError, match="CPING"):
        ajp_ping(peer(answer))


def test_http_is_ready_on_200_only() -> None:
    http_get(peer(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "host", "/page")
    with pytest.raises(NotReadyError, match="GET /page answers 503"):
        http_get(peer(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), "host", "/page")
    with pytest.raises(NotReadyError, match="no HTTP"):
        http_get(peer(b"hello\r\n"), "host", "/page")


SETTINGS = b"\0\0\0\4\0\0\0\0\0"
"""An empty frame of HTTP/2's, as every server sends first."""


def test_http2_is_ready_on_200_only() -> None:
    heard: list[bytes] = []
    http2_get(peer(SETTINGS + b"\0\0\1\1\4\0\0\0\1\x88", heard), "host", "/page")
    assert heard[0].startswith(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert b"\5:path\5/page" in heard[0]
    with pytest.raises(NotReadyError, match="does not answer 200"):
        http2_get(peer(SETTINGS + b"\0\0\1\1\4\0\0\0\1\x8e"), "host", "/page")
    with pytest.raises(NotReadyError, match="closed"):
        http2_get(peer(SETTINGS), "host", "/page")


def test_mysql_is_not_ready_when_it_refuses() -> None:
    message = b"\xff\x10\x04Too many connections"
    packet = len(message).to_bytes(3, "little") + b"\0" + message

    def connect() -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.sendall(packet)
        theirs.close()
        return ours

    with pytest.raises(NotReadyError, match="Too many connections"):
        mysql_select(connect, "user", "password", "database")


def test_mysql_is_not_ready_while_it_does_not_answer() -> None:
    """A server that hangs would have held up a trial's start, or its end, for ever."""
    ours, theirs = socket.socketpair()
    with theirs:
        ours.settimeout(0.2)
        with pytest.raises(NotReadyError, match="timed out"):
            mysql_login(ours, "user", "password", "database")


@pytest.mark.parametrize("software", [Command, Address, Image])
def test_a_server_of_the_user_s_own_is_asked_by_its_name(software: type[Server]) -> None:
    heard: list[bytes] = []
    site: Any = SimpleNamespace(
        endpoint=Endpoint("127.0.0.1", 8080, "http"),
        connect=peer(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", heard),
        check_socket=lambda: None,
    )
    for host, called in (("shop.example", b"shop.example"), (None, b"127.0.0.1:8080")):
        options = software.own_options.model_construct(host=host, ready="/")
        content: Any = None
        software(site, Settings({}, options), content).greet()
        assert b"\r\nHost: " + called + b"\r\n" in heard.pop()
