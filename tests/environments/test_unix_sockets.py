"""UNIX sockets as the kernel lists them: who listens, who is connected, and how one is reached."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.standing_domain import StandingDomain
from tierlab.environments.unix.address import LONGEST, connect
from tierlab.environments.unix.listeners import is_listened_at, unix_listeners
from tierlab.environments.unix.owners import holders, sockets_of
from tierlab.environments.unix.table import Table, UnixSocket

ABSTRACT = f"@tierlab-test-{os.getpid()}"
SHARED = """
import os, socket, sys
with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(sys.argv[1])
    listening.listen()
    os.fork()
    sys.stdin.read()
"""


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short path."""
    with tempfile.TemporaryDirectory(prefix="u-") as folder:
        yield Path(folder)


def listening(where: str | bytes) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.bind(where)
    made.listen(3)
    return made


def inode(link: socket.socket) -> int:
    return os.fstat(link.fileno()).st_ino


def all_sockets() -> dict[int, UnixSocket]:
    with Table() as table:
        return {each.inode: each for each in table.sockets()}


def test_each_end_of_a_connection_is_known_and_who_waits(short: Path) -> None:
    path = str(short / "x.sock")
    with listening(path) as server, socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        assert all_sockets()[inode(server)] == UnixSocket(inode(server), path, None, True, 1)
        accepted, _ = server.accept()
        with accepted:
            found = all_sockets()
            theirs = UnixSocket(inode(accepted), path, inode(client), False, 0)
            assert found[inode(accepted)] == theirs
            assert found[inode(client)].peer == inode(accepted)
            assert found[inode(client)].name is None
            assert found[inode(server)].waiting == 0


def test_an_abstract_name_is_written_as_the_kernel_s_own_list_has_it() -> None:
    with listening("\0" + ABSTRACT[1:]) as server, socket.socket(socket.AF_UNIX) as client:
        assert all_sockets()[inode(server)].name == ABSTRACT
        assert f" {ABSTRACT}\n" in Path("/proc/net/unix").read_text()
        connect(client, ABSTRACT)
        server.accept()[0].close()


def test_more_sockets_than_one_message_holds_are_listed() -> None:
    pairs = [socket.socketpair() for _ in range(400)]
    found = all_sockets()
    mine = {inode(each) for pair in pairs for each in pair}
    for one, other in pairs:
        one.close()
        other.close()
    assert found.keys() >= mine


def test_a_socket_s_holders_are_all_processes_that_have_it_open() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert inode(one) in sockets_of(os.getpid())
        assert holders([inode(one)]) == {inode(one): [os.getpid()]}
        assert holders([inode(one)], [os.getppid()]) == {}


def test_a_path_that_no_program_can_bind_whole_is_reached(short: Path) -> None:
    """A container's root, as another process sees it, makes paths longer."""
    deep = short / ("d" * 100)
    deep.mkdir()
    here = os.open(deep, os.O_PATH)
    path = str(deep / "x.sock")
    assert len(path) > LONGEST
    with listening(f"/proc/self/fd/{here}/x.sock") as server:
        os.close(here)
        with socket.socket(socket.AF_UNIX) as client:
            connect(client, path)
            server.accept()[0].close()


def domain(folder: Path, path: str) -> StandingDomain:
    ground: Any = SimpleNamespace(work=folder, user=None, namespace=None)
    return StandingDomain(ground, DomainSpec("db.1", standing_socket=path))


def test_a_server_that_runs_is_all_processes_that_listen_at_its_socket(short: Path) -> None:
    path = str(short / "x.sock")
    there = domain(short, path)
    assert not is_listened_at(path)
    assert there.pids() == []
    assert there.unseen() == f"no process that this user may look at listens at {path}"
    command = [sys.executable, "-c", SHARED, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        wait_for(lambda: len(there.pids()) == 2)
        assert process.pid in there.pids()
        (found,) = unix_listeners([path])
        assert found.pids == {*there.pids()}
        assert found.program.startswith("python")
        assert there.is_listening()
        assert there.unseen() is None
        there.connect_unix(path, timeout=5).close()
        process.communicate()
    wait_for(lambda: not there.is_listening())
    with pytest.raises(OSError, match="Connection refused"):
        there.connect_unix(path, timeout=5)
