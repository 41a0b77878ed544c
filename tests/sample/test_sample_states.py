"""What a server's threads do: stopped, frozen, blocked; and requests that its socket dropped."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from tests.pace import wait_until

from .conftest import INTERVAL, Group, Start

THREADS = 5
BUSY = f"""
import threading, time
def work():
    while True:
        sum(range(10_000))
        time.sleep(0.001)
for _ in range({THREADS} - 1): threading.Thread(target=work, daemon=True).start()
work()
"""


@contextmanager
def busy_server(group: Group) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", BUSY]) as server:
        try:
            group.add(server.pid)
            wait_until(lambda: len(states(server)) == THREADS, "the threads' start")
            yield server
        finally:
            server.kill()


def states(server: subprocess.Popen[bytes]) -> list[str]:
    """A letter for each thread; see proc_pid_stat(5)."""
    stats = Path(f"/proc/{server.pid}/task").glob("*/stat")
    return [stat.read_text().rpartition(")")[2].split()[0] for stat in stats]


def during(rows: pd.DataFrame, begun: int, ended: int) -> pd.DataFrame:
    """The rows whose whole interval lies within."""
    return rows[(rows.t_ns - rows.dt_ns > begun) & (rows.t_ns < ended)]


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "in a network namespace"])
def test_a_stopped_server_is_seen_at_every_tick(
    start: Start, group: Group, elsewhere: bool
) -> None:
    if "unified" in group.folders:
        pytest.skip("the kernel counts threads of control groups of version 1 only")
    if elsewhere and shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    group.make()
    with busy_server(group) as server:
        prefix = ("unshare", "--net") if elsewhere else ()
        sampling = start(prefix=prefix, tables=["domain"], subjects=[group.subject("app.1")])
        sampling.ticks(6)
        free_until = time.time_ns()
        server.send_signal(signal.SIGSTOP)
        # A thread stops when it comes back from the kernel.
        wait_until(lambda: set(states(server)) == {"T"}, "the stop")
        stopped = time.time_ns()
        sampling.ticks(12)
        going_on = time.time_ns()
        server.send_signal(signal.SIGCONT)
        wait_until(lambda: "T" not in states(server), "the going on")
        free_since = time.time_ns()
        sampling.ticks(24)
        summary = sampling.stop()
    domain = sampling.table("domain")
    assert not [name for name in summary["not_measured"] if name.startswith("domain.threads")]
    assert set(during(domain, stopped, going_on).threads_stopped) == {THREADS}
    free = pd.concat([during(domain, 0, free_until), during(domain, free_since, time.time_ns())])
    assert set(free.threads_stopped.dropna()) == {0}, "also looked at once a second"


def test_a_frozen_group_is_seen_at_every_tick(start: Start, group: Group) -> None:
    tree = Path("/sys/fs/cgroup/unified")
    if "unified" not in group.folders and not (tree / "cgroup.procs").exists():
        pytest.skip("needs control groups of version 2")
    name = next(iter(group.folders.values())).name
    both = Group({"unified": tree / name, **group.folders})
    both.make()
    try:
        with busy_server(both):
            sampling = start(tables=["domain"], subjects=[both.subject("db.1")])
            sampling.ticks(6)
            free_until = time.time_ns()
            (both.folders["unified"] / "cgroup.freeze").write_text("1")
            events = both.folders["unified"] / "cgroup.events"
            wait_until(lambda: "frozen 1" in events.read_text(), "the freeze")
            frozen = time.time_ns()
            sampling.ticks(10)
            thawed = time.time_ns()
            (both.folders["unified"] / "cgroup.freeze").write_text("0")
            sampling.ticks(6)
            sampling.stop()
    finally:
        both.remove()
    domain = sampling.table("domain")
    assert set(during(domain, frozen, thawed).frozen) == {1}
    assert set(during(domain, 0, free_until).frozen.dropna()) <= {0}


def test_a_process_that_moves_is_its_new_groups(start: Start, group: Group) -> None:
    other = Group({kind: path.with_name(f"{path.name}b") for kind, path in group.folders.items()})
    group.make()
    other.make()
    try:
        with busy_server(group) as server:
            subjects = [group.subject("web.1"), other.subject("db.1")]
            sampling = start(tables=["process"], subjects=subjects, thread_interval_ns=INTERVAL)
            sampling.ticks(10)
            moved = time.time_ns()
            other.add(server.pid)
            # It is looked for once a second.
            sampling.ticks(2 * 10**9 // INTERVAL)
            sampling.stop()
    finally:
        other.remove()
    process = sampling.table("process")
    assert set(process[process.t_ns < moved].subject) == {"web.1"}
    subjects = list(dict.fromkeys(process.sort_values("t_ns").subject))
    assert subjects == ["web.1", "db.1"]
    assert process.sort_values("t_ns").subject.iloc[-1] == "db.1"


def refused(address: tuple[str, int]) -> list[socket.socket]:
    """Clients of a server that does not accept, more than its queue has room for."""
    clients = [socket.socket() for _ in range(8)]
    for client in clients:
        client.setblocking(False)
        client.connect_ex(address)
    return clients


def few_ticks_after(rows: pd.DataFrame, moment: int) -> int:
    """The third tick: on a busy machine that may be a while later."""
    return int(rows[rows.t_ns > moment].t_ns.iloc[:3].max())


def test_a_socket_that_drops_is_told_from_one_that_does_not(start: Start) -> None:
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        socket.create_server(("127.0.0.1", 0)) as empty,
    ):
        servers = {"db.1": full.getsockname(), "web.1": empty.getsockname()}
        listen = [
            {"subject": subject, "address": address, "port": port}
            for subject, (address, port) in servers.items()
        ]
        sampling = start(tables=["tcp", "listen"], listen=listen)
        sampling.ticks(4)
        clients = refused(servers["db.1"])
        began = time.time_ns()
        sampling.ticks(6)
        sampling.stop()
        for client in clients:
            client.close()
    rows = sampling.table("listen")
    dropped = rows[rows.subject == "db.1"]
    assert dropped.drops.sum() > 0
    assert dropped[dropped.drops > 0].t_ns.iloc[0] <= few_ticks_after(dropped, began)
    assert rows[rows.subject == "web.1"].drops.sum() == 0
    # The whole namespace's counter is read at the very tick.
    tcp = sampling.table("tcp")
    assert tcp.listen_drops.sum() >= dropped.drops.sum()
    assert tcp[tcp.listen_drops > 0].t_ns.iloc[0] <= few_ticks_after(tcp, began)


def test_drops_of_a_socket_that_is_not_watched_are_a_second_late_at_most(start: Start) -> None:
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        socket.create_server(("127.0.0.1", 0)) as watched,
    ):
        address, port = watched.getsockname()
        listen = [{"subject": "web.1", "address": address, "port": port}]
        sampling = start(tables=["tcp", "listen"], listen=listen)
        clients = refused(full.getsockname())
        sampling.ticks(1_300_000_000 // INTERVAL)
        sampling.stop()
        for client in clients:
            client.close()
    assert sampling.table("tcp").listen_drops.sum() > 0


def test_the_drops_of_a_socket_that_waits_for_data_are_no_requests(start: Start) -> None:
    """The kernel drops the acknowledgement that ends the handshake: what follows has it too."""
    count = 20
    with socket.create_server(("127.0.0.1", 0)) as deferring:
        deferring.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 30)
        address, port = deferring.getsockname()
        listen = [{"subject": "web.1", "address": address, "port": port}]
        sampling = start(tables=["tcp", "listen"], listen=listen)
        for _ in range(count):
            with socket.create_connection((address, port)) as client:
                client.sendall(b"GET")
                deferring.accept()[0].close()
        sampling.ticks()
        sampling.stop()
    assert sampling.table("listen").drops.sum() == count
    # Others on the machine may drop a request meanwhile.
    assert sampling.table("tcp").listen_drops.sum() < count


def test_threads_are_counted_beside_groups_that_are_not_there(start: Start, group: Group) -> None:
    if "unified" in group.folders:
        pytest.skip("the kernel counts threads of control groups of version 1 only")
    gone = Group({kind: path.with_name(f"{path.name}g") for kind, path in group.folders.items()})
    group.make()
    gone.make()
    try:
        with busy_server(group) as server:
            server.send_signal(signal.SIGSTOP)
            subjects = [gone.subject("web.1"), group.subject("app.1"), gone.subject("db.1")]
            sampling = start(tables=["domain"], subjects=subjects)
            sampling.ticks(6)
            gone.remove()
            removed = time.time_ns()
            sampling.ticks(8)
            sampling.stop()
    finally:
        gone.remove()
    domain = sampling.table("domain")
    stopped = domain[domain.subject == "app.1"].threads_stopped.dropna()
    assert len(stopped) > 2
    assert set(stopped) == {THREADS}
    others = during(domain[domain.subject != "app.1"], removed, time.time_ns())
    assert set(others.threads_stopped.dropna()) == set()
