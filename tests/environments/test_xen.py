"""What is particular about Xen: two sockets, memory nodes, domain 0's books, neighbours, traces."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Traces
from tests.environments import disk_books
from tests.figures import figure
from tierlab import experiment
from tierlab.cli.clean import clean
from tierlab.deploy.neighbours import Neighbours, start_together
from tierlab.environments.domain import DomainSpec
from tierlab.environments.neighbour import Turn
from tierlab.environments.placement import Placement
from tierlab.environments.xen.accounts import SECONDS, XenAccounts
from tierlab.environments.xen.domain import XenDomain
from tierlab.environments.xen.environment import Xen
from tierlab.environments.xen.host import KEPT_SECONDS
from tierlab.errors import UserError
from tierlab.machine.hwloc import pus_at
from tierlab.machine.mapping import Seats

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.timeout(900),
    pytest.mark.usefixtures("xen_here"),
]

S = 10**9
LEAST_TICKS = 4
TENTH = 0.1

OWNER = """
import sys
from tierlab.environments.ledger import Ledger
from tierlab.environments.xen.environment import Xen

xen = Xen(Ledger(sys.argv[1]))
print("booting", flush=True)
sys.stdin.read()
"""


LOOP = "exec taskset --cpu-list 0 sh -c 'while :; do :; done'"
WATCH = """
taskset --cpu-list --pid 1 $$ >/dev/null
while :; do echo $(date +%s%N) $(grep '^cpu0 ' /proc/stat); sleep 0.2; done
"""
STOLEN, HERTZ = 9, 100


def share_stolen(looks: Sequence[Sequence[str]], turn: Turn) -> float:
    """Of its first virtual CPU's time, from the first look within the turn to the last."""
    seen = [line for line in looks if turn.start_ns <= int(line[0]) <= turn.end_ns]
    (began, *_, ended) = seen
    ticks = int(ended[STOLEN]) - int(began[STOLEN])
    return ticks / HERTZ / ((int(ended[0]) - int(began[0])) / S)


@pytest.fixture
def accounts(xen: Xen) -> Iterator[XenAccounts]:
    """Closed afterwards: the tests have one host, and it has one place for them."""
    made = xen.accounts()
    yield made
    made.close()


MEMORY = 512 << 20
PLACES = {"db.1": "package:0", "db.2": "package:1"}
Pair = Mapping[str, XenDomain]


@pytest.fixture(scope="module")
def pair(xen_host: Xen) -> Pair:
    """One on each socket, for all tests: it takes long to boot them.

    The first test sees them as they were started, the others place them as they want them.
    """
    machine = Xen.probe().machine
    made = {
        name: xen_host.create(
            DomainSpec(name, placed(place, machine), vcpus=2, disk=("data",) * (name == "db.1"))
        )
        for name, place in PLACES.items()
    }
    for domain in made.values():
        domain.boot()
    for domain in made.values():
        domain.start()
    return made


def placed(place: str, machine: str) -> Placement:
    """Memory may be far from the PUs: the one does not follow the other. That it is beside them on
    the second socket is seen in tests/trial/test_xen_trial.py.
    """
    pus = frozenset(pus_at(place, machine))
    return Placement(pus=pus, nodes=frozenset({0}), memory=MEMORY)


def said(domain: XenDomain, script: str) -> str:
    done = domain.run(["sh", "-c", script], timeout=120)
    assert done.status == 0, done.stderr
    return done.stdout.strip()


def test_what_hwloc_names_is_where_domains_run_and_what_differs_is_found_out(
    xen: Xen, pair: Pair
) -> None:
    """From a place in hwloc's words to what Xen reads back, on each of the two sockets."""
    machine = Xen.probe().machine
    for name, domain in pair.items():
        placement = placed(PLACES[name], machine)
        found = domain.verify(placement)
        assert (found.pus, found.nodes) == (placement.pus, frozenset({0}))
        assert said(domain, "cat /sys/devices/system/cpu/online") == "0-1"

    # Somebody moves one, and more memory is asked than it was started with.
    xen.host.change("xl vcpu-pin db.2 0 3", "a test")
    with pytest.raises(UserError, match=r"db\.2: .* asked"):
        domain.verify(placement)
    assert domain.place(Placement(memory=384 << 20)).memory == 384 << 20
    with pytest.raises(UserError, match="more than the 512 MiB"):
        domain.place(Placement(memory=1 << 30))


def test_domains_keep_their_registers_on_a_shared_pu(pair: Pair, tmp_path: Path) -> None:
    """The emulated processor once left one domain's vector registers to the next."""
    source, program = Path(__file__).with_name("registers.c"), tmp_path / "registers"
    subprocess.run(["cc", "-O1", "-static", "-o", program, source], check=True)
    for domain in pair.values():
        domain.place(Placement(pus=frozenset({3})))
        domain.put(program, "registers")
    running = [
        domain.spawn(["./registers", str(number), "10"], log="found.log")
        for number, domain in enumerate(pair.values(), 100)
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    assert [domain.text("found.log") for domain in pair.values()] == ["0\n", "0\n"]


def test_a_disk_of_its_own_holds_what_is_put_there(pair: Pair, tmp_path: Path) -> None:
    (tmp_path / "tree" / "deep").mkdir(parents=True)
    (tmp_path / "tree" / "deep" / "file").write_text("content")
    pair["db.1"].put(tmp_path / "tree", "data/copied")
    assert said(pair["db.1"], "cat data/copied/deep/file") == "content"
    assert said(pair["db.1"], "df --output=source data | tail -n 1") == "/dev/xvdb"
    pair["db.1"].get("data/copied", tmp_path / "back")
    assert (tmp_path / "back" / "deep" / "file").read_text() == "content"


def test_domain_0s_books_agree_with_the_domains_and_the_toolstack(
    xen: Xen, pair: Pair, accounts: XenAccounts
) -> None:
    domain = pair["db.1"]
    domain.place(Placement(pus=frozenset({3})))
    disk_books.agree(domain, accounts, "xvdb")

    accounts.open()
    loop = domain.spawn(["sh", "-c", "while :; do :; done"], log="data/loop.log")
    first, before, after_first = asked(xen)
    began_ns = time.time_ns()
    ticks: list[Mapping[str, Any]] = []
    framed_s = after_first - before
    while len(ticks) < LEAST_TICKS or time.time_ns() - began_ns < 5e9 * framed_s:
        time.sleep(SECONDS)
        reading = accounts.read_clock()
        ticks = [
            row
            for row in accounts.tables()["domain"]
            if row["subject"] == "db.1"
            and row["t_ns"] - row["dt_ns"] + reading.offset_ns > began_ns
        ]
    last, before_last, after = asked(xen)
    loop.stop(0.0)
    share = sum(row["cpu_ns"] for row in ticks) / sum(row["dt_ns"] for row in ticks)
    # The toolstack looked at some moment of each command, and tells tenths of a second.
    least = (last - first - TENTH) / (after - before)
    most = (last - first + TENTH) / (before_last - after_first)
    assert 0.95 * least < share < 1.05 * most
    assert {row["memory"] for row in ticks} == {domain.stats().memory_bytes}
    figure(f"clock of domain 0 known to {reading.uncertainty_ns / 1e6:.0f} ms")


def asked(xen: Xen) -> tuple[float, float, float]:
    """Seconds that the toolstack says `db.1` has computed, and domain 0's before and after that."""
    up = "cut -d' ' -f1 /proc/uptime"
    before, listed, after = xen.host.run(f"{up}; xl list db.1 | tail -n 1; {up}").splitlines()
    return float(listed.split()[-1]), float(before), float(after)


def shares(accounts: XenAccounts, subject: str) -> float:
    """PUs that a domain takes from now on, by domain 0's books."""
    began_ns = time.time_ns() - accounts.read_clock().offset_ns
    ticks: list[Mapping[str, Any]] = []
    while len(ticks) < 2:  # looks are as seldom as the emulated CPUs are slow
        time.sleep(2 * SECONDS)
        ticks = [
            row
            for row in accounts.tables()["domain"]
            if row["subject"] == subject and row["t_ns"] - row["dt_ns"] > began_ns
        ]
    return sum(row["cpu_ns"] for row in ticks) / sum(row["dt_ns"] for row in ticks)


def test_neighbours_take_their_pus_as_asked_and_are_gone_afterwards(
    xen: Xen, accounts: XenAccounts
) -> None:
    asked = {"count": 1, "vcpus": 2, "place": "package:1", "weight": 512}
    shape = experiment.System.of({"workload": "static", "neighbours": asked})
    neighbours = Neighbours(shape, xen)
    neighbours.start()
    neighbours.check()
    seen = xen.host.look("neighbour.1")
    assert (seen.vcpus, seen.weight) == ((frozenset({2}), frozenset({3})), 512)

    accounts.open()
    assert shares(accounts, "neighbour.1") == pytest.approx(2, rel=0.1)
    assert neighbours.occupy(1) == 1
    assert shares(accounts, "neighbour.1") == pytest.approx(1, rel=0.1)
    xen.host.change("xl vcpu-pin neighbour.1 0 3", "a test")
    with pytest.raises(UserError, match=r"neighbour\.1: .* asked"):
        neighbours.check()
    neighbours.stop()
    assert "neighbour.1" not in xen.host.run("xl list")


def test_what_a_neighbour_takes_in_its_turns_the_servers_kernel_is_told(
    xen: Xen, pair: Pair
) -> None:
    """Of a PU that both want the weights say who gets it; the kernel's word is /proc/stat."""
    domain = pair["db.1"]
    domain.place(Placement(pus=frozenset({2, 3}), weight=1024))
    made = xen.create_timed_neighbour("neighbour.1", Seats((2,)))
    start_together([made], xen.slowness)
    made.rest()
    loop = domain.spawn(["sh", "-c", LOOP], log="data/steal.log")
    watch = domain.spawn(["sh", "-c", WATCH], log="data/stat.log")
    now_ns = time.time_ns()
    asked = [Turn(now_ns + at * S, now_ns + (at + 6) * S, 3072) for at in (8, 20, 600)]
    made.take(asked)
    while len(taken := made.taken()) < 2:
        made.check()
        time.sleep(1)
    for process in (loop, watch):
        process.stop(0.0)
    xen.host.run("xl destroy neighbour.1")
    time.sleep(KEPT_SECONDS)
    with pytest.raises(UserError, match=r"neighbour\.1"):
        made.check()
    made.destroy()
    assert "neighbour.1" not in xen.host.run("xl list")

    for one, turn in zip(asked[:2], taken, strict=True):
        assert turn.start_ns - one.start_ns < S
        assert 0.9 < (turn.end_ns - turn.start_ns) / (6 * S) < 1.2
    looks = [line.split() for line in domain.text("data/stat.log").splitlines()]
    first, second = (share_stolen(looks, turn) for turn in taken)
    between = share_stolen(looks, Turn(taken[0].end_ns + S, taken[1].start_ns - S, 0))
    figure(f"stolen {first:.2f} and {second:.2f} of 0.75, {between:.2f} between")
    # Under load the emulated host gives the weight's share less exactly: 0.61 with a test beside.
    assert 0.5 < first < 0.8
    assert 0.5 < second < 0.8
    assert between < 0.1


def test_kill_9_then_clean_leaves_nothing(trial: str, traces: Traces) -> None:
    """While the host boots; tests/trial/test_guests_broken_off.py does so while domains do."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, trial],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
        text=True,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline().strip() == "booting"
    time.sleep(2)
    owner.kill()
    owner.communicate()
    assert traces.found()["ledgers"]
    clean()
    assert traces.none(), traces.found()
