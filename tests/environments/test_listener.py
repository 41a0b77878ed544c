"""Who holds a port, and what else keeps a server from it."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from tierlab.deploy.lifecycle import Instance
from tierlab.environments.native.native import Native
from tierlab.errors import UserError
from tierlab.servers.endpoint import Endpoint

ADDRESS, PORT = "127.0.1.1", 80


@pytest.fixture
def native() -> Native:
    """On the host's own network."""
    made: Any = object.__new__(Native)
    made._ground = SimpleNamespace(namespace=None)
    return made  # type: ignore[no-any-return]


def refuse(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def bind(_socket: socket.socket, _address: tuple[str, int]) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(socket.socket, "bind", bind)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "port 80 needs root; choose one from 1024 on."),
        (
            errno.EADDRNOTAVAIL,
            "127.0.1.1 is no address of this network; 'ip address' lists those that it has.",
        ),
        (errno.EPERM, "127.0.1.1:80 cannot be listened at (Operation not permitted)."),
    ],
)
def test_a_port_that_nobody_may_have_is_not_taken_by_another_program(
    number: int, said: str, native: Native, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, number)
    with pytest.raises(UserError) as raised:
        native.listener(ADDRESS, PORT)
    assert str(raised.value) == said

    site = SimpleNamespace(
        subject="web.1",
        domain=None,
        endpoint=Endpoint(ADDRESS, PORT, "http"),
        environment=native,
    )
    server: Any = SimpleNamespace(site=site)
    with pytest.raises(UserError) as raised:
        Instance(server).start()
    assert str(raised.value) == f"web.1: {said}"


def test_a_holder_that_ends_meanwhile_is_another_program(
    native: Native, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    connection = SimpleNamespace(
        status=psutil.CONN_LISTEN, pid=ended.pid, laddr=SimpleNamespace(ip=ADDRESS, port=PORT)
    )
    refuse(monkeypatch, errno.EADDRINUSE)
    monkeypatch.setattr(psutil, "net_connections", lambda _kind: [connection])
    assert native.listener(ADDRESS, PORT) == "another program"
