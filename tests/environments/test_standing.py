"""The processes of a server that somebody else has started."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.environments.preforked import preforked
from tierlab.environments import behind_port
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
        assert str(domain(tmp_path, port).unseen()).startswith(
            "its port is held by systemd; its own"
        )


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


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("docker-proxy", "docker-proxy"),
        ("rootlessport", "rootlessport"),
        ("pasta.avx2", "pasta"),
    ],
)
def test_what_holds_a_port_for_a_container_is_not_its_server(
    name: str, told: str, tmp_path: Path
) -> None:
    """Its CPU time, memory and threads were the server's."""
    with preforked(workers=0, name=name) as (port, *_):
        made = domain(tmp_path, port)
        assert made.pids() == []
        assert made.unseen() == (
            f"its port is held by {told}; its own processes are in a container"
        )
        assert made.is_listening()


def test_the_processes_of_podman_s_container_are_those_that_its_monitor_started(
    tmp_path: Path,
) -> None:
    with preforked(workers=0, name="conmon") as (port, _, started):
        made = domain(tmp_path, port)
        assert made.pids() == [started]
        assert made.unseen() is None


def test_a_pod_s_first_container_has_the_port_and_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = behind_port.IDLE | {"sleep"}
    monkeypatch.setattr(behind_port, "IDLE", idle)
    with preforked(workers=0, name="conmon") as (port, *_):
        made = domain(tmp_path, port)
        assert made.pids() == []
        assert made.unseen() == "its port is held by conmon; its own processes are in a container"


def test_a_server_s_own_processes_and_a_port_that_nobody_holds_need_no_reason(
    tmp_path: Path,
) -> None:
    with preforked() as (port, *_):
        assert domain(tmp_path, port).unseen() is None
    assert domain(tmp_path, port).unseen() is None
    assert not domain(tmp_path, port).is_listening()
