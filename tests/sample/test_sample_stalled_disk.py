"""The disk under a run folder stands still for seconds: only the writers wait for it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tierlab.observe.agent import binary

from .conftest import INTERVAL, table
from .stalled_disk import StalledDisk, stalled_disk

PORT = 8080
EXCHANGES = f"""
import socket, sys, threading
server = socket.create_server(("127.0.0.1", {PORT}))
def serve():
    connection, _ = server.accept()
    while connection.recv(4096):
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
threading.Thread(target=serve, daemon=True).start()
client = socket.create_connection(server.getsockname())
asked = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), asked.set()), daemon=True).start()
count = 0
while not asked.is_set():
    client.sendall(b"GET /page HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
    client.recv(4096)
    count += 1
print(count)
"""
"""Two sockets that exchange requests and replies until standard input ends; prints how many."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[StalledDisk]:
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("needs root and loop devices")
    if shutil.which("fsfreeze") is None:
        pytest.skip("needs fsfreeze (util-linux)")
    with stalled_disk(tmp_path) as made:
        yield made


@contextmanager
def agent(
    disk: StalledDisk, verb: str, plan: dict[str, Any], out: Path
) -> Iterator[dict[str, Any]]:
    """Run a verb whose tables go to ``out`` while the block runs; gives its summary at the end."""
    plan_file = disk.folder.with_name(f"{verb}-{out.name}.json")
    plan_file.write_text(json.dumps(plan))
    command = [binary(), verb, "--plan", str(plan_file), "--out", str(out)]
    summary: dict[str, Any] = {}
    with subprocess.Popen(
        disk.within(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert "ready" in json.loads(process.stdout.readline())
            yield summary
            process.send_signal(signal.SIGINT)
            said, errors = process.communicate(timeout=30)
            assert process.returncode == 0, errors
            summary |= json.loads(said.splitlines()[-1])["summary"]
        finally:
            process.kill()


@contextmanager
def exchanges(disk: StalledDisk) -> Iterator[list[int]]:
    """Exchange requests and replies on the loopback while the block runs; then says how many."""
    counted: list[int] = []
    command = disk.within([sys.executable, "-c", EXCHANGES])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield counted
        said, _ = process.communicate(timeout=30)
        counted.append(int(said))


def stood_still(beside: Path) -> pd.DataFrame:
    """When a sampler whose disk is another was late too, or a core was the hypervisor's."""
    events, cpu = table(beside, "sample.events"), table(beside, "cpu")
    taken = cpu[cpu.steal * cpu.dt_ns > 0.2 * INTERVAL]
    since = taken.assign(t_ns=taken.t_ns - taken.dt_ns, duration_ns=taken.dt_ns)
    late = events[events.kind == "late_tick"]
    return pd.concat([each[["t_ns", "duration_ns"]] for each in (late, since)])


def missing_ticks(folder: Path, name: str, still: pd.DataFrame) -> list[int]:
    """The ticks that a table lacks, but for those at which the machine stood ``still``."""
    ticks = table(folder, name).t_ns.to_numpy() // INTERVAL
    lacking = sorted(set(range(ticks[0], ticks[-1])) - set(ticks))
    begun, ended = still.t_ns - INTERVAL, still.t_ns + still.duration_ns + INTERVAL
    stood = [((begun < tick * INTERVAL) & (tick * INTERVAL < ended)).any() for tick in lacking]
    return [tick for tick, stands in zip(lacking, stood, strict=True) if not stands]


def test_a_disk_that_stands_still_for_two_seconds_costs_no_tick_and_no_packet(
    disk: StalledDisk, tmp_path: Path
) -> None:
    server = {"name": "web.1", "address": "127.0.0.1", "port": PORT, "protocol": "http1"}
    sampling = {"interval_ns": INTERVAL, "tables": ["cpu", "memory", "net", "tcp"]}
    beside = tmp_path / "beside"
    beside.mkdir()
    with (
        agent(disk, "sample", sampling, beside),
        agent(disk, "capture", {"interface": "lo", "servers": [server]}, disk.folder) as captured,
        agent(disk, "sample", sampling, disk.folder) as sampled,
    ):
        with exchanges(disk) as counted:
            time.sleep(0.5)
            frozen = time.time_ns()
            stalled_s = disk.stall(2)
            thawed = time.time_ns()
        time.sleep(0.3)
    assert stalled_s > 1.9, "the disk did not stand still"
    assert sampled["lost_rows"] == {}
    still = stood_still(beside)
    meanwhile = still[(still.t_ns + still.duration_ns > frozen) & (still.t_ns < thawed)]
    assert meanwhile.duration_ns.sum() < (thawed - frozen) / 2, "the machine itself stood still"
    for name in ("memory", "tcp"):
        assert missing_ticks(disk.seen_from_outside, name, still) == []
        rows = table(disk.seen_from_outside, name)
        assert rows.t_ns.iloc[0] < frozen < thawed < rows.t_ns.iloc[-1]
    assert captured["drops"] == captured["crowded_out"] == 0
    visits = table(disk.seen_from_outside, "raw_visits")
    assert counted == [len(visits)]
    assert visits.departure_ns.notna().all()
    assert visits.arrival_ns.between(frozen, thawed).sum() > 100
