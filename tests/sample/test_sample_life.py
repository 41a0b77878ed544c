"""What comes and goes while a sampler runs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.pace import wait_until

from .conftest import INTERVAL, Group, Start

SOME = 8
SECOND = 1_000_000_000 // INTERVAL
"""In ticks. So often it looks for what is new."""


def test_what_is_not_measured_has_its_reason(start: Start) -> None:
    sampling = start(tables=["listen", "process", "domain", "memory"])
    sampling.ticks(SOME)
    summary = sampling.stop()
    for name in ("listen", "process", "domain"):
        assert "the plan" in summary["not_measured"][name]
        assert not (sampling.folder / f"{name}.arrows").exists()
    assert len(sampling.table("memory")) > 0


def test_a_killed_process_stops_and_is_told(start: Start) -> None:
    with subprocess.Popen(["sleep", "60"]) as server:
        sampling = start(tables=["process"], subjects=[{"name": "app.1", "pids": [server.pid]}])
        sampling.ticks(SOME)
        server.kill()
    killed = time.time_ns()
    sampling.ticks(2 * SOME)
    sampling.stop()
    process = sampling.table("process")
    assert len(process) > 0
    assert (process.process == server.pid).all()
    assert process.t_ns.max() < killed + 100_000_000
    events = sampling.happened
    assert list(events.kind) == ["process_start", "process_end"]
    assert events.detail.iloc[1] == f"process {server.pid} (sleep)"


def test_who_is_started_later_in_a_session_of_its_own_counts(start: Start) -> None:
    script = "sleep 1; setsid sh -c 'while :; do :; done' & wait"
    with subprocess.Popen(["sh", "-c", script]) as server:
        sampling = start(tables=["process"], subjects=[{"name": "db.1", "pids": [server.pid]}])
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")

        def spinning() -> list[int]:
            found = [int(pid) for pid in children.read_text().split()]
            return [pid for pid in found if os.getsid(pid) == pid]

        try:
            wait_until(spinning, "the process that spins")
            sampling.ticks(SECOND + 2)
            before, ran = time.time_ns(), _cpu_ns(spinning()[0])
            sampling.ticks(SECOND)
            after, ran = time.time_ns(), _cpu_ns(spinning()[0]) - ran
            sampling.stop()
        finally:
            for pid in (*spinning(), server.pid):
                os.kill(pid, signal.SIGKILL)
    process = sampling.table("process")
    counted = process[process.thread.isna() & process.t_ns.between(before, after)]
    assert counted.process.nunique() == 2
    # What it ran in parts of the first and the last interval may be missing.
    assert counted.run_ns.sum() > 0.7 * ran > 0


def _cpu_ns(pid: int) -> int:
    """CPU time of a process so far: its CPU clock, clock_getcpuclockid(3)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def test_a_group_that_appears_and_vanishes(start: Start, group: Group) -> None:
    sampling = start(
        tables=["domain", "process"],
        subjects=[group.subject("db.1")],
        thread_interval_ns=INTERVAL,
    )
    sampling.ticks(SOME)
    group.make()
    with subprocess.Popen(["sleep", "60"]) as server:
        group.add(server.pid)
        appeared = time.time_ns()
        sampling.ticks(SECOND + 10)
        server.kill()
    group.remove()
    vanished = time.time_ns()
    sampling.ticks(2 * SOME)
    sampling.stop()
    for name in ("domain", "process"):
        rows = sampling.table(name)
        assert len(rows) > 0
        assert rows.t_ns.min() > appeared
        assert rows.t_ns.max() < vanished + 100_000_000
    kinds = list(sampling.happened.kind)
    for kind in ("domain_start", "process_start", "process_end", "domain_end"):
        assert kinds.count(kind) == 1


def test_processes_that_join_and_leave_their_group(start: Start, group: Group) -> None:
    group.make()
    sampling = start(tables=["process", "domain"], subjects=[group.subject("web.1")])
    servers = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    try:
        for server in servers:
            group.add(server.pid)
        sampling.ticks(SECOND + 4)
        assert servers[0].poll() is None
        servers[0].kill()
        servers[0].wait()
        sampling.ticks(SECOND + 4)
        sampling.stop()
    finally:
        for server in servers:
            server.kill()
            server.wait()
    process = sampling.table("process")
    assert set(process.process) == {server.pid for server in servers}
    last = process.groupby("process").t_ns.max()
    assert last[servers[0].pid] < last[servers[1].pid] - 500_000_000
    assert sampling.table("domain").processes.max() == 3


def test_threads_have_their_own_rows_and_names(start: Start) -> None:
    command = (
        "import threading, time\n"
        "def spin():\n"
        "    end = time.monotonic() + 30\n"
        "    while time.monotonic() < end: time.sleep(0.001)\n"
        "for _ in range(4): threading.Thread(target=spin, daemon=True).start()\n"
        "spin()"
    )
    with subprocess.Popen([sys.executable, "-c", command]) as server:
        tasks = Path(f"/proc/{server.pid}/task")
        wait_until(lambda: len(list(tasks.iterdir())) == 5, "the threads' start")
        sampling = start(
            tables=["process"],
            subjects=[{"name": "app.1", "pids": [server.pid]}],
            thread_interval_ns=200_000_000,
        )
        sampling.ticks(SECOND + 10)
        sampling.stop()
        tids = {int(path.name) for path in tasks.iterdir()}
        server.kill()
    process = sampling.table("process")
    threads = process[process.thread.notna()]
    assert set(threads.thread.astype(int)) == tids
    assert (threads.run_ns > 0).mean() > 0.9
    assert set(threads.name) == {Path(sys.executable).resolve().name[:15]} or all(threads.name)
    states = process[process.threads.notna()]
    assert set(states.threads) == {5}
    waited = threads.groupby("t_ns").wait_ns.sum()
    whole = states.set_index("t_ns").wait_ns.dropna()
    assert (whole == waited.reindex(whole.index)).all()


def test_the_accept_queue_of_a_server_that_does_not_accept(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=7) as listener:
        address, port = listener.getsockname()
        watched = [{"subject": "web.1", "address": address, "port": port}]
        sampling = start(tables=["listen"], listen=watched)
        sampling.ticks(SOME)
        before = time.time_ns()
        clients = [socket.create_connection((address, port)) for _ in range(5)]
        all_wait = time.time_ns()
        sampling.ticks(SECOND + 6)
        accepts = time.time_ns()
        for _ in range(5):
            listener.accept()[0].close()
        sampling.ticks(SOME)
        for client in clients:
            client.close()
    sampling.ticks(SOME)
    sampling.stop()
    listen = sampling.table("listen")
    assert set(listen.subject) == {"web.1"}
    assert set(listen.backlog) == {7}
    assert set(listen[listen.t_ns < before].accept_queue) == {0}
    assert set(listen[listen.t_ns.between(all_wait, accepts)].accept_queue) == {5}
    assert listen.accept_queue.iloc[-1] == 0
    assert list(sampling.happened.kind) == ["listen_start", "listen_end"]


def test_a_socket_of_ipv6_alone_is_not_added_to_one_of_ipv4(start: Start) -> None:
    with socket.create_server(("0.0.0.0", 0), backlog=7) as listener:
        port = listener.getsockname()[1]
        with socket.socket(socket.AF_INET6) as beside:
            beside.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            beside.bind(("::", port))
            beside.listen(7)
            watched = [{"subject": "web.1", "address": "127.0.0.1", "port": port}]
            sampling = start(tables=["listen"], listen=watched)
            sampling.ticks(SECOND + 6)
            sampling.stop()
    assert set(sampling.table("listen").backlog) == {7}


def test_sockets_that_share_a_port_are_added_up(start: Start) -> None:
    def server(port: int) -> socket.socket:
        shared = socket.socket()
        shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        shared.bind(("127.0.0.1", port))
        shared.listen(10)
        return shared

    with server(0) as one:
        port = one.getsockname()[1]
        with server(port):
            clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
            watched = [{"subject": "lb.1", "address": "127.0.0.1", "port": port}]
            sampling = start(tables=["listen"], listen=watched)
            sampling.ticks(SOME)
            sampling.stop()
            for client in clients:
                client.close()
    listen = sampling.table("listen")
    assert set(listen.accept_queue) == {8}
    assert set(listen.backlog) == {20}


@pytest.mark.privileged
def test_an_interface_that_comes_and_goes(start: Start) -> None:
    if os.geteuid() != 0 or shutil.which("nsenter") is None:
        pytest.skip("needs root and a network namespace")
    with subprocess.Popen(["unshare", "--net", "sleep", "60"]) as keeper:
        own = Path("/proc/self/ns/net").readlink()
        its = Path(f"/proc/{keeper.pid}/ns/net")
        wait_until(lambda: its.readlink() != own, "the namespace")
        inside = ("nsenter", f"--net=/proc/{keeper.pid}/ns/net")

        def ip(*words: str) -> None:
            subprocess.run([*inside, "ip", "link", *words], check=True)

        sampling = start(prefix=inside, tables=["net", "tcp"])
        sampling.ticks(SOME)
        before = time.time_ns()
        ip("add", "tierlab0", "type", "veth", "peer", "name", "tierlab1")
        sampling.ticks(SOME)
        ip("del", "tierlab0")
        gone = time.time_ns()
        sampling.ticks(SOME)
        sampling.stop()
        keeper.kill()
    net = sampling.table("net")
    assert {"lo", "tierlab0", "tierlab1"} == set(net.subject) - {"ifb0", "ifb1", "eth0"}
    seen = net[net.subject == "tierlab0"]
    assert len(seen) > 1
    assert seen.t_ns.between(before, gone).all()
    assert net.t_ns.max() > gone
    assert sorted(sampling.happened.subject) == ["tierlab0", "tierlab1"]
    assert set(sampling.happened.kind) == {"interface_gone"}
