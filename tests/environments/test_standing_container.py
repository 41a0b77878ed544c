"""A server that runs already in a container or service: processes, control group and PUs."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import Traces
from tests.environments.grouped import a_group, put
from tests.environments.preforked import preforked
from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.cgroups.find import find_hierarchy
from tierlab.environments.cgroups.own_group import own_group
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.standing_domain import StandingDomain

HERE, CONTAINER = "127.0.9.9", "172.31.97.2"
ANOTHER_NETWORK = (
    *("unshare", "--net", "sh", "-ec"),
    f'ip link set lo up; ip address add {CONTAINER}/32 dev lo; exec "$@"',
    "sh",
)


def domain(folder: Path, port: int, address: str = HERE) -> StandingDomain:
    found = find_hierarchy()
    ground: Any = SimpleNamespace(
        work=folder, user=None, hierarchy=None if isinstance(found, str) else found
    )
    return StandingDomain(ground, DomainSpec("web.1", standing=(address, port)))


@pytest.fixture
def group(trial: str, traces: Traces, tmp_path: Path) -> Iterator[Group]:
    with a_group(trial, tmp_path / "ledger") as made:
        yield made
    assert traces.none(), traces.found()


@contextmanager
def published(port: int) -> Iterator[int]:
    """The port of this host at which Docker's own program takes connections for a container's."""
    with socket.create_server((HERE, 0)) as chosen:
        here = chosen.getsockname()[1]
    leads = ("-container-ip", CONTAINER, "-container-port", str(port))
    command = ["docker-proxy", "-proto", "tcp", "-host-ip", HERE, "-host-port", str(here), *leads]
    # It tells its daemon through descriptor 3 that it listens.
    with subprocess.Popen(
        ["sh", "-c", 'exec "$@" 3>&1', "sh", *command], stdout=subprocess.PIPE, text=True
    ) as proxy:
        try:
            assert proxy.stdout is not None
            assert proxy.stdout.readline() == "0\n"
            yield here
        finally:
            proxy.kill()


@pytest.mark.privileged
def test_the_processes_of_docker_s_container_are_those_its_published_port_leads_to(
    tmp_path: Path,
) -> None:
    with (
        preforked(CONTAINER, within=ANOTHER_NETWORK) as (port, *processes),
        published(port) as here,
    ):
        made = domain(tmp_path, here)
        assert made.pids() == sorted(processes)
        assert made.unseen() is None
        assert made.is_listening()


@pytest.mark.privileged
def test_of_two_networks_with_a_container_s_address_neither_is_taken(tmp_path: Path) -> None:
    with (
        preforked(CONTAINER, within=ANOTHER_NETWORK) as (port, *_),
        preforked(CONTAINER, within=ANOTHER_NETWORK),
        published(port) as here,
    ):
        made = domain(tmp_path, here)
        assert made.pids() == []
        assert str(made.unseen()).startswith("its port is held by docker-proxy")


@pytest.mark.privileged
def test_a_server_s_own_group_is_looked_at(group: Group, tmp_path: Path) -> None:
    """Its quota, its memory and its pressure were not: a container that is held back was told as
    a server that takes long.
    """
    with preforked(HERE) as (port, *processes):
        made = domain(tmp_path, port)
        assert not set(group.sampled().values()) & set(made.cgroups().values())
        put(processes, group)
        assert made.cgroups() == group.sampled()


@pytest.mark.privileged
def test_who_has_started_a_server_may_be_in_its_group(group: Group) -> None:
    """A container's first process, as a shell or tini."""
    with preforked(HERE) as (_port, first, *others):
        put([first, *others], group)
        assert own_group(others).sampled() == group.sampled()


@pytest.mark.privileged
def test_a_group_that_another_server_is_in_too_tells_of_neither(group: Group) -> None:
    with preforked(HERE) as (_port, *mine), preforked(HERE) as (_other_port, *others):
        put([*mine, *others], group)
        assert own_group(mine).folders == {}


@pytest.mark.privileged
def test_a_server_s_memory_limit_is_read(group: Group, tmp_path: Path) -> None:
    hierarchy = find_hierarchy()
    assert not isinstance(hierarchy, str)
    limit = 256 << 20
    hierarchy.set_memory(group, limit)
    with preforked(HERE) as (port, *processes):
        put(processes, group)
        assert domain(tmp_path, port).read_back().memory == limit


def test_a_server_may_run_on_the_pus_of_any_of_its_processes(tmp_path: Path) -> None:
    """All CPUs were taken for its own, whatever it was pinned to."""
    one, *rest = sorted(os.sched_getaffinity(0))
    with preforked(HERE) as (port, *processes):
        for pid in processes:
            os.sched_setaffinity(pid, {one})
        assert domain(tmp_path, port).read_back().pus == {one}
        if rest:
            os.sched_setaffinity(processes[-1], {rest[0]})
            assert domain(tmp_path, port).read_back().pus == {one, rest[0]}


def test_where_nobody_listens_nothing_is_known(tmp_path: Path) -> None:
    with socket.create_server((HERE, 0)) as server:
        port = server.getsockname()[1]
    made = domain(tmp_path, port)
    assert made.cgroups() == {}
    assert made.read_back().pus is None


def unified(proc: Path, paths: dict[int, str], *, controllers: str = "cpu memory") -> Path:
    """A unified tree in which processes are in such groups; the tree's folder."""
    tree = proc / "tree"
    proc.mkdir()
    for pid, path in paths.items():
        (proc / f"{pid}").mkdir()
        (proc / f"{pid}" / "cgroup").write_text(f"1:name=systemd:/\n0::{path}\n")
        folder = tree / path.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.controllers").write_text(f"{controllers}\n")
        with (folder / "cgroup.procs").open("a") as procs:
            procs.write(f"{pid}\n")
    (proc / "mounts").write_text(f"cgroup2 {tree} cgroup2 rw 0 0\n")
    return tree


def test_a_service_s_group_in_the_unified_tree(tmp_path: Path) -> None:
    tree = unified(tmp_path / "proc", dict.fromkeys((7_000_001, 7_000_002), "/system.slice/web"))
    found = own_group([7_000_001, 7_000_002], tmp_path / "proc")
    assert found.sampled() == {"unified": tree / "system.slice/web"}
    assert set(found.folders) == {"cpu", "memory"}


def test_a_group_without_controllers_accounts_for_pressure(tmp_path: Path) -> None:
    tree = unified(tmp_path / "proc", {7_000_001: "/web"}, controllers="")
    assert own_group([7_000_001], tmp_path / "proc").sampled() == {"unified": tree / "web"}


@pytest.mark.parametrize(
    "paths",
    [
        {7_000_001: "/", 7_000_002: "/"},
        {7_000_001: "/web", 7_000_002: "/app"},
        {7_000_001: "/web", 7_000_002: "/web", 7_000_003: "/web"},
        {7_000_001: "/../web", 7_000_002: "/app"},
    ],
    ids=["root", "two groups", "somebody else is in it", "beyond what is seen here"],
)
def test_what_is_no_group_of_their_own(tmp_path: Path, paths: dict[int, str]) -> None:
    unified(tmp_path / "proc", paths)
    assert own_group([7_000_001, 7_000_002], tmp_path / "proc").folders == {}
