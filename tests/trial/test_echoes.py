"""Echoes: what is read from ping's words, and the real ping where its host falls silent."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Traces
from tests.environments.veth_guest import Veth
from tests.pace import pace
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.errors import UserError
from tierlab.machine.programs import locate
from tierlab.observe.echoes import MS, Answer, Echoes, Silence, longest_silence, lost, read_answers

SAID = """\
PING 10.0.2.1 (10.0.2.1) 56(84) bytes of data.
[1700000000.000100] 64 bytes from 10.0.2.1: icmp_seq=1 ttl=64 time=0.100 ms
[1700000000.010200] 64 bytes from 10.0.2.1: icmp_seq=2 ttl=64 time=0.100 ms
From 10.0.0.1 icmp_seq=3 Destination Host Unreachable
[1700000000.150100] 64 bytes from 10.0.2.1: icmp_seq=16 ttl=64 time=0.100 ms
[1700000000.900100] 64 bytes from 10.0.2.1: icmp_seq=17 ttl=64 time=20.1 ms
[1700000000.910100] 64 bytes from 10.0.2.1: icmp_seq=18 ttl=64 ti"""


def test_a_silence_is_what_was_asked_and_not_answered(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(SAID)

    answers = read_answers(tmp_path / "log")

    start = 1_700_000_000_000_000_000
    assert [answer.number for answer in answers] == [1, 2, 16, 17]
    assert lost(answers) == 13
    whole = longest_silence(answers, start, start + 1000 * MS)
    assert whole == Silence(start + 10_200_000, 139_900_000)
    early = longest_silence(answers, start, start + 5 * MS)
    assert early is None
    # The last one was asked late, by whom the machine gave no time, and answered soon.
    late = longest_silence(answers, start + 160 * MS, start + 1000 * MS)
    assert late == Silence(start + 880 * MS, 20_100_000)
    assert longest_silence([Answer(1, 1, 1)], 0, 2) is None
    assert lost([]) == 0


def test_a_host_that_never_answers_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("PING 10.0.2.1 (10.0.2.1) 56(84) bytes of data.\n")
    (tmp_path / "log.err").write_text("ping: sendmsg: Network is unreachable\n")
    with pytest.raises(UserError, match="how long nobody answered: ping: sendmsg: Network is"):
        read_answers(tmp_path / "log")


@pytest.fixture
def veth(trial: str, traces: Traces) -> Iterator[Veth]:  # noqa: ARG001 - looks for what is left
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if locate("ping") is None:
        pytest.skip("needs ping")
    made = Veth(Ledger(trial))
    yield made
    made.destroy()


@pytest.mark.privileged
def test_a_silence_is_seen_where_it_was(veth: Veth, tmp_path: Path) -> None:
    address = veth.addresses.server(2, 1)
    domain = veth.create(DomainSpec("app.1", address=address))
    domain.start()
    assert domain.namespace is not None
    link = [*domain.namespace.entry, "ip", "link", "set", "eth0"]

    with Echoes(veth, address, tmp_path / "log") as echoes:
        going = time.time_ns()
        subprocess.run([*link, "down"], check=True)
        gone = time.time_ns()
        time.sleep(0.5)
        back = time.time_ns()
        subprocess.run([*link, "up"], check=True)
    seen = longest_silence(echoes.answers, going, time.time_ns())
    assert seen is not None
    # It covers the time for which the link was down, and is no other.
    least = back - gone - 20 * MS
    # How many are asked meanwhile is the machine's. Where the kernel is just looking for its
    # neighbour, it keeps them and sends them late (arp(7), unres_qlen).
    assert lost(echoes.answers) > 0 or max(each.waited_ns for each in echoes.answers) > least
    end = seen.start_ns + seen.duration_ns
    assert seen.duration_ns > least
    assert going - 300 * MS * pace() < seen.start_ns < gone + 20 * MS
    assert back - 20 * MS < end
    usual = longest_silence(echoes.answers, 0, going - 20 * MS)
    assert usual is not None
    assert usual.duration_ns < seen.duration_ns
