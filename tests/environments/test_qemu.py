"""What is particular about guests: vCPUs, memory, disks, what does not move, and traces."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Traces
from tests.environments import disk_books
from tests.environments.guests import hypervisor
from tests.pace import wait_until
from tierlab.cli.clean import clean
from tierlab.environments.domain import DomainSpec, Topology
from tierlab.environments.placement import Placement
from tierlab.environments.qemu.domain import QemuDomain
from tierlab.environments.qemu.environment import Qemu
from tierlab.errors import UserError

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.usefixtures("guests_here"),
]

MIB = 1 << 20

TWO_PUS = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two PUs")

OWNER = """
import sys
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.qemu.environment import Qemu

qemu = Qemu(Ledger(sys.argv[1]))
domain = qemu.create(DomainSpec("db.1", disk=("data",)))
print("booting", flush=True)
domain.start()
sys.stdin.read()
"""


PLACED = Placement(pus=frozenset(sorted(os.sched_getaffinity(0))[:2]), memory=512 * MIB)


@pytest.fixture(scope="module")
def guest(qemu: Qemu) -> QemuDomain:
    """One serves all tests that leave it as it was, but for its placement."""
    return started(qemu, DomainSpec("db.1", PLACED, vcpus=2, disk=("data", "tmp")))


def started(qemu: Qemu, spec: DomainSpec) -> QemuDomain:
    domain = qemu.create(spec)
    domain.start()
    return domain


def said(domain: QemuDomain, script: str) -> str:
    done = domain.run(["sh", "-c", script], timeout=60)
    assert done.status == 0, done.stderr
    return done.stdout.strip()


def test_qemus_counters_of_a_disk_agree_with_the_guests(qemu: Qemu, guest: QemuDomain) -> None:
    disk_books.agree(guest, qemu.accounts(), "vdb")


def test_a_guest_has_the_sockets_and_nodes_that_are_asked(qemu: Qemu) -> None:
    """More vCPUs than this machine may have PUs: that is no matter to a guest."""
    shape = Topology(sockets=2, numa=True)
    domain = started(qemu, DomainSpec("app.1", vcpus=4, topology=shape))
    assert said(domain, "cat /sys/devices/system/cpu/online") == "0-3"
    packages = "cat /sys/devices/system/cpu/cpu*/topology/physical_package_id"
    assert said(domain, packages).split() == ["0", "0", "1", "1"]
    assert said(domain, "cat /sys/devices/system/node/online") == "0-1"
    assert said(domain, "cat /sys/devices/system/node/node1/cpulist") == "2-3"
    domain.destroy()


@TWO_PUS
def test_each_vcpu_is_pinned_to_a_pu_of_its_own(guest: QemuDomain) -> None:
    assert PLACED.pus is not None
    first, second = sorted(PLACED.pus)
    guest.place(Placement(pus=PLACED.pus))
    assert allowed(guest, "CPU 0/") == {first}
    assert allowed(guest, "CPU 1/") == {second}
    guest.pin(frozenset({second}))
    assert allowed(guest, "CPU 0/") == allowed(guest, "CPU 1/") == {second}


@TWO_PUS
def test_a_vcpu_that_somebody_moves_is_found_out(guest: QemuDomain) -> None:
    assert PLACED.pus is not None
    placement = Placement(pus=PLACED.pus)
    guest.place(placement)
    guest.verify(placement)
    (moved,) = threads(guest, "CPU 0/")
    os.sched_setaffinity(moved, {max(PLACED.pus)})
    with pytest.raises(UserError, match=r"db\.1: .* asked"):
        guest.verify(placement)


def test_memory_is_what_was_asked_and_goes_by_the_balloon(guest: QemuDomain) -> None:
    whole = total(guest)
    assert 400 * MIB < whole <= 512 * MIB
    assert guest.place(Placement(memory=384 * MIB)).memory == 384 * MIB
    assert whole - total(guest) == pytest.approx(128 * MIB, rel=0.05)
    with pytest.raises(UserError, match="more than the 512 MiB"):
        guest.place(Placement(memory=1024 * MIB))
    assert guest.place(Placement(memory=PLACED.memory)).memory == PLACED.memory


def test_what_does_not_move_says_why(guest: QemuDomain) -> None:
    with pytest.raises(UserError, match=r"db\.1: its folder is shared with its host"):
        guest.migrate("second")


def test_a_disk_of_its_own_holds_what_is_put_there(guest: QemuDomain, tmp_path: Path) -> None:
    (tmp_path / "seed" / "deep").mkdir(parents=True)
    (tmp_path / "seed" / "deep" / "file").write_text("content")
    guest.put(tmp_path / "seed", "data")
    guest.write("data/note", "note")
    assert said(guest, "cat data/deep/file data/note") == "contentnote"
    assert said(guest, "stat --file-system --format=%T data") == "ext2/ext3"
    assert said(guest, "echo new >data/deep/made; ls -d data tmp") == "data\ntmp"
    assert list((guest.folder / "data").iterdir()) == []
    guest.get("data/deep", tmp_path / "back")
    assert (tmp_path / "back" / "made").read_text() == "new\n"


def test_a_signal_reaches_the_program_and_its_end_is_told(guest: QemuDomain) -> None:
    script = "trap 'echo heard; exit 7' USR1; echo up; while :; do sleep 0.05; done"
    process = guest.spawn(["sh", "-c", script], log="out.log")
    log = guest.folder / "out.log"
    wait_until(lambda: log.read_text() == "up\n", "the program's start", 20)
    process.signal(signal.SIGUSR1)
    assert process.wait(60) == 7
    assert log.read_text() == "up\nheard\n"

    killed = guest.spawn(["sleep", "60"], log="sleep.log")
    said(guest, "true")
    killed.signal(signal.SIGKILL)
    assert killed.wait(60) == -signal.SIGKILL


def test_the_end_of_a_guest_is_the_end_of_its_programs(guest: QemuDomain) -> None:
    """And of the guest that the tests before this share."""
    process = guest.spawn(["sleep", "600"], log="last.log")
    assert process.poll() is None
    os.kill(hypervisor(guest), signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    assert guest.pids() == []


def test_kill_9_then_clean_leaves_nothing(trial: str, traces: Traces) -> None:
    """While a guest boots."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, trial],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
        text=True,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline().strip() == "booting"
    time.sleep(4)
    owner.kill()
    owner.communicate()
    assert traces.found()["ledgers"]
    clean()
    assert traces.none(), traces.found()


def threads(domain: QemuDomain, name: str) -> list[int]:
    tasks = Path(f"/proc/{hypervisor(domain)}/task").iterdir()
    return [int(task.name) for task in tasks if (task / "comm").read_text().startswith(name)]


def allowed(domain: QemuDomain, name: str) -> set[int]:
    (thread,) = threads(domain, name)
    return os.sched_getaffinity(thread)


def total(domain: QemuDomain) -> int:
    return int(said(domain, "grep MemTotal /proc/meminfo").split()[1]) << 10
