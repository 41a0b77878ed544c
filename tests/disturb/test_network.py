"""A rate limit, by what arrives at the receiver of what was sent."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.disturb.conftest import (
    CALM,
    LEAD,
    MS,
    SLOWER,
    Disturb,
    Domain,
    at,
    entry,
)
from tests.figures import figure
from tests.pace import wait_until
from tierlab.observe.agent import binary

KIB = 1024
ONE, OTHER = "127.0.4.1", "127.0.4.2"
TRAFFIC = """
import json, socket, sys, threading, time
addresses = sys.argv[1].split(",")
sent = {address: [] for address in addresses}
got = {address: [] for address in addresses}
def receive(server, times):
    link = server.accept()[0]
    while data := link.recv(1 << 20):
        times.append((time.time_ns(), len(data)))
def send(address, times):
    link = socket.create_connection((address, 7000))
    while True:
        times.append((time.time_ns(), 1000))
        link.send(bytes(1000))
        time.sleep(0.001)
for address in addresses:
    server = socket.create_server((address, 7000))
    for work in ((receive, server, got[address]), (send, address, sent[address])):
        threading.Thread(target=work[0], args=work[1:], daemon=True).start()
print("up", flush=True)
for line in sys.stdin:
    told = [{each: list(times[each]) for each in times} for times in (sent, got)]
    print(json.dumps(told), flush=True)
"""

Amounts = list[tuple[int, int]]
"""When (ns) how many bytes."""


def until(amounts: Amounts, moment_ns: int) -> int:
    """Bytes before a moment."""
    return sum(size for moment, size in amounts if moment < moment_ns)


@dataclass(frozen=True)
class Seen:
    """What was to be sent to an address, and what came there."""

    sent: Amounts
    got: Amounts

    def offered(self, from_ns: int, until_ns: int) -> int:
        return until(self.sent, until_ns) - until(self.sent, from_ns)

    def passed(self, from_ns: int, until_ns: int, patience_ns: int = 0) -> int:
        """Bytes of what was offered from the first moment on and came before the second, or as much
        later as the receiver may be waited for.

        What was offered before and is read only now, on a busy machine, is not of it.
        """
        return until(self.got, until_ns + patience_ns) - until(self.sent, from_ns)


@dataclass
class Traffic:
    """1000 bytes a millisecond, nearly, to each of two addresses, until it is to finish."""

    process: subprocess.Popen[str]

    def so_far(self) -> dict[str, Seen]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("tell\n")
        self.process.stdin.flush()
        sent, got = json.loads(self.process.stdout.readline())
        return {address: Seen(sent[address], got[address]) for address in sent}


@pytest.fixture
def traffic(domain: Domain) -> Traffic:
    process = domain.start(
        *("python3", "-c", TRAFFIC, f"{ONE},{OTHER}"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return Traffic(process)


def qdisc(domain: Domain) -> str:
    shown = ["tc", "qdisc", "show", "dev", "lo"]
    return subprocess.run(
        [*domain.inside, *shown], check=True, capture_output=True, text=True
    ).stdout


def test_only_the_subject_gets_less_and_only_meanwhile(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    before = qdisc(domain)
    limit = {"address": ONE, "rate": 64 * KIB}
    run = disturb(entry(domain, 1, "network", LEAD + CALM, 1_000 * MS, **limit))
    (truth,) = run.finish()
    assert qdisc(domain) == before
    # What waited is let go before the agent can tell of the end.
    start, end, patience = truth["start_ns"], run.end_ns(), round(300 * MS * SLOWER)
    at(truth["end_ns"] + patience)
    seen = traffic.so_far()
    one, other = seen[ONE], seen[OTHER]
    allowed = 64 * KIB * (end - start) / 1e9
    offered, passed = one.offered(start, end), one.passed(start, end)
    figure(f"{passed / KIB:.0f} of {offered / KIB:.0f} KiB passed in {(end - start) / MS:.0f} ms")
    # A packet may be as large as 64 KiB; what waits before a full one is not there yet.
    assert passed < 1.3 * allowed < 0.7 * offered
    # What waited comes at once, and the others never waited.
    told = truth["end_ns"]
    assert one.passed(start, told, patience) >= one.offered(start, told)
    calm = start - CALM, start
    assert one.passed(*calm, CALM) > 0.9 * one.offered(*calm)
    assert other.passed(start, end) > 0.5 * other.offered(start, end)


def test_two_subjects_have_limits_of_their_own(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    run = disturb(
        entry(domain, 1, "network", LEAD, 400 * MS, address=ONE, rate=KIB),
        entry(domain, 2, "network", LEAD + 800 * MS, 400 * MS, address=OTHER, rate=KIB),
    )
    truth = run.finish()
    at(truth[1]["end_ns"] + 100 * MS)
    seen = traffic.so_far()
    for number, (limited, free) in enumerate([(ONE, OTHER), (OTHER, ONE)]):
        start, end = truth[number]["start_ns"], run.end_ns(number)
        assert seen[limited].passed(start, end) < 0.2 * seen[limited].offered(start, end)
        # The sooner one's receiver may be late, but not until the later one's limit.
        assert seen[free].passed(start, end, 100 * MS) > 0.5 * seen[free].offered(start, end)


def test_a_killed_agent_leaves_the_network_open(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    before = qdisc(domain)
    run = disturb(entry(domain, 1, "network", LEAD, 60_000 * MS, address=ONE, rate=KIB))
    at(run.start_ns() + 100 * MS)
    assert qdisc(domain) != before
    run.process.kill()
    wait_until(lambda: qdisc(domain) == before, "the removal", 5)
    opened = time.time_ns()
    wait_until(lambda: traffic.so_far()[ONE].passed(opened, time.time_ns()) > 0, "an arrival", 5)


def test_the_hosts_own_network_is_refused(domain: Domain, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    one = entry(domain, 1, "network", LEAD, MS, address=ONE)
    plan.write_text(json.dumps({"disturbances": [one]}))
    command = [binary(), "disturb", "--plan", str(plan), "--out", str(tmp_path)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    assert tried.returncode == 1
    assert "not in a network namespace" in tried.stderr
