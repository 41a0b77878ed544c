"""Interfaces that hold packets back, against what `tc` shows of their queueing disciplines."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pace import wait_until

from .conftest import INTERVAL, Start

TICK_S = INTERVAL / 1e9
SECOND = round(1 / TICK_S)
"""In ticks."""
# Bits per second, and how many packets may wait: both far less than is sent.
RATE = "64kbit"
LIMIT = 40
DATAGRAM = 1000
SEND = """
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[1])):
    sender.sendto(bytes(int(sys.argv[2])), ("127.0.0.1", 9))
"""


class Namespace:
    """A network namespace of the test's own, with a loopback."""

    def __init__(self, pid: int) -> None:
        self.entry = ("nsenter", f"--net=/proc/{pid}/ns/net")

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [*self.entry, *command], check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def tc(self, command: str) -> None:
        self.run("tc", *command.split())

    def root(self) -> dict[str, Any]:
        """The loopback's root discipline, as `tc` has it."""
        shown = json.loads(self.run("tc", "-s", "-j", "qdisc", "show", "dev", "lo"))
        root: dict[str, Any]
        (root,) = [each for each in shown if each.get("root")]
        return root

    def send(self, count: int) -> None:
        self.run(sys.executable, "-c", SEND, str(count), str(DATAGRAM))


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    missing = [name for name in ("nsenter", "unshare", "tc") if shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        pytest.skip("needs root, unshare and tc")
    with subprocess.Popen(["unshare", "--net", "sleep", "120"]) as keeper:
        try:
            own = Path("/proc/self/ns/net").readlink()
            its = Path(f"/proc/{keeper.pid}/ns/net")
            wait_until(lambda: its.readlink() != own, "the namespace")
            made = Namespace(keeper.pid)
            made.run("ip", "link", "set", "lo", "up")
            yield made
        finally:
            keeper.kill()


@pytest.mark.privileged
def test_queues_are_those_that_tc_shows(start: Start, namespace: Namespace) -> None:
    sampling = start(prefix=namespace.entry, tables=["net"])
    namespace.send(100)
    sampling.ticks()
    limited = time.time_ns()
    namespace.tc("qdisc add dev lo root handle 1: htb default 1")
    namespace.tc(f"class add dev lo parent 1: classid 1:1 htb rate {RATE}")
    namespace.tc(f"qdisc add dev lo parent 1:1 handle 11: pfifo limit {LIMIT}")
    # It may take a second until it is noticed.
    sampling.ticks(SECOND + 4)
    empty = time.time_ns()
    namespace.send(100)
    shown = []
    for _ in range(10):
        before = time.time_ns()
        shown.append((before, namespace.root(), time.time_ns()))
        time.sleep(TICK_S)
    dropped = namespace.root()["drops"]
    namespace.tc("qdisc del dev lo root")
    removed = time.time_ns()
    sampling.ticks()
    summary = sampling.stop()

    assert not [name for name in summary["not_measured"] if name.startswith("net.")]
    net = sampling.table("net")
    net = net[net.subject == "lo"]
    columns = ["queued_packets", "queued_bytes", "queue_drops"]
    for without in (net[net.t_ns < limited], net[net.t_ns > removed]):
        assert len(without) > 1
        assert without[columns].isna().all(axis=None)
    held = net[(net.t_ns > limited) & (net.t_ns < empty)].dropna(subset="queued_packets")
    assert len(held) > 1
    assert set(held.queued_packets) == set(held.queued_bytes) == {0}
    full = net[(net.t_ns > empty) & (net.t_ns < removed)]
    assert full.queued_packets.max() > LIMIT / 2
    assert dropped >= 100 - 2 * LIMIT
    assert net.queue_drops.sum() == dropped
    # Nothing is sent any more: what waits only falls, so that a sample lies between two showings.
    for (_, earlier, since), (until, later, _) in itertools.pairwise(shown):
        for row in net[(net.t_ns > since) & (net.t_ns < until)].itertuples():
            assert later["qlen"] <= row.queued_packets <= earlier["qlen"]
            assert later["backlog"] <= row.queued_bytes <= earlier["backlog"]


@pytest.mark.privileged
def test_a_discipline_that_replaces_another_counts_anew(start: Start, namespace: Namespace) -> None:
    sampling = start(prefix=namespace.entry, tables=["net"])
    dropped = 0
    for handle in (1, 2):
        namespace.tc(
            f"qdisc replace dev lo root handle {handle}: tbf rate 8kbit burst 2kb limit 2kb"
        )
        sampling.ticks(SECOND + 4)
        namespace.send(20 * handle)
        dropped += namespace.root()["drops"]
        sampling.ticks()
    sampling.stop()
    net = sampling.table("net")
    assert dropped >= 50
    assert net[net.subject == "lo"].queue_drops.sum() == dropped
