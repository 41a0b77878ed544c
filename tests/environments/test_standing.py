"""The processes of a server that somebody else has started."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.environments.preforked import preforked
from tierlab.environments.domain import DomainSpec
from tierlab.environments.listeners import listeners
from tierlab.environments.native.standing_domain import StandingDomain

ADDRESS = "127.0.0.1"


def domain(folder: Path, port: int, address: str = ADDRESS) -> StandingDomain:
    ground: Any = SimpleNamespace(work=folder, user=None)
    return StandingDomain(ground, DomainSpec("web.1", standing=(address, port)))


def test_all_processes_of_a_server_are_seen(tmp_path: Path) -> None:
    """Of those that share a socket it was one worker, and not who had started it."""
    with preforked() as (port, *processes):
        assert domain(tmp_path, port).pids() == sorted(processes)


def test_what_systemd_listens_for_is_the_service_s(tmp_path: Path) -> None:
    """As with a socket unit: all processes of a host are its descendants."""
    with preforked(name="systemd") as (port, _, *workers, _started):
        assert domain(tmp_path, port).pids() == sorted(workers)


def test_where_systemd_alone_listens_no_process_is_known(tmp_path: Path) -> None:
    with preforked(workers=0, name="systemd") as (port, *_):
        assert domain(tmp_path, port).pids() == []


@pytest.mark.parametrize(
    ("family", "bound", "told"),
    [
        (socket.AF_INET, "127.0.9.7", "127.0.9.7"),
        (socket.AF_INET, "0.0.0.0", "0.0.0.0"),
        (socket.AF_INET6, "::", "::"),
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::ffff:127.0.9.7", "127.0.9.7"),
    ],
)
def test_an_address_is_told_as_it_is_written(
    family: socket.AddressFamily, bound: str, told: str
) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((bound, 0))
        except OSError as error:
            pytest.skip(f"{bound}: {error.strerror}")
        server.listen()
        port = server.getsockname()[1]
        assert {each.address for each in listeners(port)} == {told}
    assert listeners(port) == []
