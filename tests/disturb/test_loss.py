"""Lost packets, by the datagrams that arrive and by what TCP makes of them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from tests.disturb.conftest import CALM, LEAD, MS, Disturb, Domain, at, entry, wait_for
from tests.figures import figure

LOSSY, OTHER = "127.0.4.1", "127.0.4.2"
TRAFFIC = """
import json, socket, sys, threading, time
addresses = sys.argv[1].split(",")
sent, got, turns, told = {}, {}, [], threading.Event()
def datagrams(address):
    here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    here.bind((address, 7000))
    here.settimeout(0)
    away = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while not told.is_set():
        now = time.time_ns()
        away.sendto(b"%d" % now, (address, 7000))
        sent[address].append(now)
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
def ask(address):
    link = socket.create_connection((address, 7000))
    while not told.is_set():
        began = time.time_ns()
        link.send(b"x")
        link.recv(100)
        turns.append((began, time.time_ns()))
        time.sleep(0.002)
for address in addresses:
    sent[address], got[address] = [], []
    threading.Thread(target=datagrams, args=(address,), daemon=True).start()
server = socket.create_server((addresses[0], 7000))
threading.Thread(target=answer, args=(server,), daemon=True).start()
threading.Thread(target=ask, args=(addresses[0],), daemon=True).start()
print("up", flush=True)
sys.stdin.read()
told.set()
time.sleep(0.3)
print(json.dumps({"sent": sent, "got": got, "turns": turns}))
"""


@dataclass
class Traffic:
    """A datagram every two milliseconds to each of two addresses, and a dialogue with the first,
    until it is to finish."""

    process: subprocess.Popen[bytes]

    def finish(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.process.communicate(timeout=60)[0])
        return said


@pytest.fixture
def traffic(domain: Domain) -> Traffic:
    process = domain.start(
        *("python3", "-c", TRAFFIC, f"{LOSSY},{OTHER}"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return Traffic(process)


def arrived(said: dict[str, Any], address: str, from_ns: int, until_ns: int) -> float:
    """The share of the datagrams sent then that arrived at any time."""
    sent = {each for each in said["sent"][address] if from_ns <= each < until_ns}
    assert len(sent) > 25
    return len(sent & set(said["got"][address])) / len(sent)


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


@pytest.mark.alone
def test_the_share_asked_for_is_lost_on_the_way_to_the_subject_alone(
    domain: Domain, disturb: Disturb, traffic: Traffic
) -> None:
    before = shaped(domain)
    run = disturb(
        entry(domain, 1, "loss", LEAD + CALM, 1_000 * MS, address=LOSSY, share=0.3),
        entry(domain, 2, "loss", LEAD + CALM + 1_200 * MS, 200 * MS, address=OTHER, share=1.0),
    )
    truth, later = run.finish()
    assert shaped(domain) == before
    at(truth["end_ns"] + CALM)
    said = traffic.finish()
    start, end = truth["start_ns"], truth["end_ns"]
    during = arrived(said, LOSSY, start, end)
    figure(f"{1 - during:.2f} of the datagrams lost, 0.3 asked")
    assert during == pytest.approx(0.7, abs=0.1)  # some 500 datagrams: five standard errors
    assert arrived(said, OTHER, start, end) == 1
    assert arrived(said, OTHER, later["start_ns"], later["end_ns"] - MS) == 0
    # The clock is read when a change is done, by an agent that may have to wait for its CPU.
    edge = 10 * MS
    for calm in ((start - CALM, start - edge), (end + edge, end + CALM)):
        assert arrived(said, LOSSY, *calm) == 1
    # The sender is not told: it waits for its timer of 200 ms before it sends again.
    late = [end - start for start, end in said["turns"] if end - start > 100 * MS]
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
    wait_for(lambda: shaped(domain) == before, "the removal", 5)
    assert traffic.finish()["got"][LOSSY]
