"""A server that runs already is watched while a trial lives, at next to no cost."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tierlab.deploy.standing import Standing
from tierlab.environments import listeners
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.standing_domain import StandingDomain
from tierlab.errors import UserError
from tierlab.servers.endpoint import Endpoint

ADDRESS = "127.0.9.8"


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server((ADDRESS, 0)) as made:
        yield made


@pytest.fixture
def standing(listening: socket.socket, tmp_path: Path) -> Standing:
    """Found and looked at."""
    endpoint = Endpoint(*listening.getsockname(), "http")
    ground: Any = SimpleNamespace(work=tmp_path, user=None)
    spec = DomainSpec("web.1", standing=(endpoint.address, endpoint.port))
    site = SimpleNamespace(subject="web.1", endpoint=endpoint, domain=StandingDomain(ground, spec))
    server: Any = SimpleNamespace(site=site, greet=lambda: None)
    made = Standing(server)
    made.start()
    return made


def test_what_others_hold_is_not_looked_through_while_a_server_lives(
    standing: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice a second and for each server, all descriptors of the host were."""
    monkeypatch.setattr(listeners.psutil, "pids", lambda: pytest.fail("all processes are listed"))
    monkeypatch.setattr(
        listeners.psutil, "net_connections", lambda _: pytest.fail("all sockets are listed")
    )
    for _ in range(10):
        standing.check()


def test_a_server_that_listens_no_more_is_told(
    standing: Standing, listening: socket.socket
) -> None:
    standing.check()
    listening.close()
    with pytest.raises(UserError, match=r"^web\.1: nobody listens at 127\.0\.9\.8:\d+ now\.$"):
        standing.check()


def test_a_server_that_was_started_anew_is_the_server(
    standing: Standing, listening: socket.socket
) -> None:
    place = listening.getsockname()
    listening.close()
    with socket.create_server(place) as again:
        standing.check()
        standing.check()
        again.close()
        with pytest.raises(UserError):
            standing.check()
