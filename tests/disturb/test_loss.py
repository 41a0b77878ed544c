"""Lost packets, by the datagrams that arrive and by what TCP makes of them."""

from __future__ import annotations

import json
import math
import subprocess
import time
from dataclasses import dataclass

import pytest

from tests.disturb.conftest import CALM, LEAD, MS, Disturb, Domain, at, entry
from tests.figures import figure
from tests.pace import wait_until

LOSSY, OTHER = "127.0.4.1", "127.0.4.2"
TRAFFIC = """
import json, socket, struct, sys, threading, time
addresses = sys.argv[1].split(",")
sent, got, turns = {}, {}, []
def datagrams(address):
    here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    here.bind((address, 7000))
    here.settimeout(0)
    away = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        now = time.time_ns()
        away.sendto(b"%d" % now, (address, 7000))
        sent[address].append((now, time.time_ns()))
        time.sleep(0.002)
        try:
            while True:
                got[address].append(int(here.recv(100)))
        except BlockingIOError:
            pass
def answer(server):
    link = server.accept()[0]
    while data := link.recv(100):
        link.send(data)
def resent(link):
    return struct.unpack_from("I", link.getsockopt(socket.SOL_TCP, socket.TCP_INFO, 104), 100)[0]
def ask(address):
    link = socket.create_connection((address, 7000))
    while True:
        before, began = resent(link), time.monotonic_ns()
        link.send(b"x")
        link.recv(100)
        turns.append((time.monotonic_ns() - began, resent(link) - before))
        time.sleep(0.002)
for address in addresses:
    sent[address], got[address] = [], []
    threading.Thread(target=datagrams, args=(address,), daemon=True).start()
server = socket.create_server((addresses[0], 7000))
threading.Thread(target=answer, args=(server,), daemon=True).start()
threading.Thread(target=ask, args=(addresses[0],), daemon=True).start()
print("up", flush=True)
for line in sys.stdin:
    time.sleep(0.1)  # what is on its way
    told = {each: list(sent[each]) for each in sent}, {each: list(got[each]) for each in got}
    print(json.dumps([*told, list(turns)]), flush=True)
"""


@dataclass(frozen=True)
class Seen:
    """By address, before and after which times (ns) each datagram was sent, and the first of these
    for each that arrived; and of each turn of the dialogue the length and how often its sender sent
    again.
    """

    sent: dict[str, list[tuple[int, int]]]
    got: dict[str, list[int]]
    turns: list[tuple[int, int]]

    def arrived(self, address: str, from_ns: int, until_ns: int) -> tuple[int, int]:
        """How many datagrams were sent then, and how many of these arrived at any time."""
        sent = {b for b, after in self.sent[address] if from_ns <= b and after < until_ns}
        assert len(sent) > 10
        return len(sent), len(sent & set(self.got[address]))


@dataclass
class Traffic:
    """A datagram every two milliseconds to each of two addresses, and a dialogue with the first."""

    process: subprocess.Popen[str]

    def so_far(self) -> Seen:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("tell\n")
        self.process.stdin.flush()
        return Seen(*json.loads(self.process.stdout.readline()))


@pytest.fixture
def traffic(domain: Domain) -> Traffic:
    process = domain.start(
        *("python3", "-c", TRAFFIC, f"{LOSSY},{OTHER}"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return Traffic(process)


def shaped(domain: Domain) -> list[str]:
    """What stands in the way of packets."""
    return [
        subprocess.run(
            [*domain.inside, "tc", kind, "show", "dev", "lo"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for kind in ("qdisc", "filter")
    ]


def test_the_share_asked_for_is_lost_on_the_way_to_the_subject_alone(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    before = shaped(domain)
    run = disturb(
        entry(domain, 1, "loss", LEAD + CALM, 1_000 * MS, address=LOSSY, share=0.3),
        entry(domain, 2, "loss", LEAD + CALM + 1_200 * MS, 400 * MS, address=OTHER, share=1.0),
    )
    truth, later = run.finish()
    assert shaped(domain) == before
    at(truth["end_ns"] + CALM)
    seen = traffic.so_far()
    # The agent does nothing before its time, and tells of it once it is done.
    start, told = run.start_ns(), truth["start_ns"]
    end, over = run.end_ns(), truth["end_ns"]
    sent, came = seen.arrived(LOSSY, told, end)
    figure(f"{1 - came / sent:.2f} of {sent} datagrams lost, 0.3 asked")
    standard_error = math.sqrt(0.3 * 0.7 / sent)
    assert came / sent == pytest.approx(0.7, abs=5 * standard_error)
    for calm in ((LOSSY, start - CALM, start), (LOSSY, over, over + CALM), (OTHER, told, end)):
        sent, came = seen.arrived(*calm)
        assert came == sent
    assert seen.arrived(OTHER, later["start_ns"], run.end_ns(1))[1] == 0
    # The sender is not told: it waits for its timer of 200 ms before it sends again.
    late = [took for took, resent in seen.turns if resent]
    assert late
    assert min(late) >= 190 * MS


def test_a_killed_agent_leaves_nothing_in_the_way(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    before = shaped(domain)
    run = disturb(
        entry(domain, 1, "loss", LEAD, 60_000 * MS, address=LOSSY, share=1.0),
        entry(domain, 2, "network", LEAD, 60_000 * MS, address=LOSSY, rate=1024),
    )
    at(run.start_ns() + 100 * MS)
    assert shaped(domain) != before
    run.process.kill()
    wait_until(lambda: shaped(domain) == before, "the removal", 5)
    opened = time.time_ns()
    wait_until(lambda: traffic.so_far().got[LOSSY][-1] > opened, "an arrival", 5)
