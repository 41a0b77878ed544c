"""A rate limit, by what arrives at the receiver."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.disturb.conftest import CALM, LEAD, MS, Disturb, Domain, at, entry, wait_for
from tests.figures import figure
from tierlab.observe.agent import binary

KIB = 1024
TRAFFIC = """
import json, socket, sys, threading, time
addresses = sys.argv[1].split(",")
got = {address: [] for address in addresses}
def receive(server, times):
    link = server.accept()[0]
    while data := link.recv(1 << 20):
        times.append((time.time_ns(), len(data)))
def send(address):
    link = socket.create_connection((address, 7000))
    while True:
        link.send(bytes(1000))
        time.sleep(0.001)
threads = []
for address in addresses:
    server = socket.create_server((address, 7000))
    threads.append(threading.Thread(target=receive, args=(server, got[address]), daemon=True))
    threads.append(threading.Thread(target=send, args=(address,), daemon=True))
for thread in threads:
    thread.start()
print("up", flush=True)
sys.stdin.read()
print(json.dumps({address: list(times) for address, times in got.items()}))
"""


@dataclass
class Traffic:
    """1000 bytes a millisecond, nearly, to each of two addresses, until it is to finish."""

    process: subprocess.Popen[bytes]

    def finish(self) -> dict[str, list[tuple[int, int]]]:
        said = self.process.communicate(timeout=60)[0]
        got: dict[str, list[tuple[int, int]]] = json.loads(said)
        return got


@pytest.fixture
def traffic(domain: Domain) -> Traffic:
    process = domain.start(
        *("python3", "-c", TRAFFIC, "127.0.4.1,127.0.4.2"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return Traffic(process)


def rate(arrivals: list[tuple[int, int]], from_ns: int, until_ns: int) -> float:
    """Bytes per second."""
    came = sum(size for moment, size in arrivals if from_ns <= moment < until_ns)
    return came * 1e9 / (until_ns - from_ns)


def qdisc(domain: Domain) -> str:
    shown = ["tc", "qdisc", "show", "dev", "lo"]
    return subprocess.run(
        [*domain.inside, *shown], check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.alone
def test_only_the_subject_gets_less_and_only_meanwhile(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    before = qdisc(domain)
    limit = {"address": "127.0.4.1", "rate": 64 * KIB}
    run = disturb(entry(domain, 1, "network", LEAD + CALM, 1_000 * MS, **limit))
    (truth,) = run.finish()
    assert qdisc(domain) == before
    at(truth["end_ns"] + 600 * MS)
    got = traffic.finish()
    start, end = truth["start_ns"], truth["end_ns"]
    calm = rate(got["127.0.4.1"], start - CALM, start)
    assert calm > 128 * KIB
    limited = rate(got["127.0.4.1"], start + 50 * MS, end)
    figure(
        f"{calm / KIB:.0f} KiB/s, limited {limited / KIB:.0f} KiB/s for {(end - start) / MS:.0f} ms"
    )
    # A packet may be as large as 64 KiB; what waits before a full one is not there yet.
    assert limited < 1.3 * 64 * KIB
    # What waited comes at once, and then all is as before.
    assert rate(got["127.0.4.1"], end, end + 100 * MS) > calm
    assert rate(got["127.0.4.1"], end + 100 * MS, end + 600 * MS) > 0.5 * calm
    assert rate(got["127.0.4.2"], start, end) > 0.5 * calm


@pytest.mark.alone
def test_two_subjects_have_limits_of_their_own(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    run = disturb(
        entry(domain, 1, "network", LEAD, 400 * MS, address="127.0.4.1", rate=KIB),
        entry(domain, 2, "network", LEAD + 800 * MS, 400 * MS, address="127.0.4.2", rate=KIB),
    )
    truth = run.finish()
    got = traffic.finish()
    for line, address, other in zip(
        truth, ["127.0.4.1", "127.0.4.2"], ["127.0.4.2", "127.0.4.1"], strict=True
    ):
        span = line["start_ns"] + 20 * MS, line["end_ns"]
        assert rate(got[address], *span) < 0.2 * rate(got[other], *span)


def test_a_killed_agent_leaves_the_network_open(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    before = qdisc(domain)
    run = disturb(entry(domain, 1, "network", LEAD, 60_000 * MS, address="127.0.4.1", rate=KIB))
    at(run.start_ns() + 100 * MS)
    assert qdisc(domain) != before
    run.process.kill()
    wait_for(lambda: qdisc(domain) == before, "the removal", 5)
    opened = time.time_ns()
    time.sleep(0.2)
    assert traffic.finish()["127.0.4.1"][-1][0] > opened


def test_the_hosts_own_network_is_refused(domain: Domain, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    one = entry(domain, 1, "network", LEAD, MS, address="127.0.4.1")
    plan.write_text(json.dumps({"disturbances": [one]}))
    command = [binary(), "disturb", "--plan", str(plan), "--out", str(tmp_path)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    assert tried.returncode == 1
    assert "not in a network namespace" in tried.stderr
