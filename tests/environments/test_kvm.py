"""Guests that are run by KVM, on the second of two memory nodes; in a host with both.

Most machines that tests run on have neither: test_kvm_nested.py runs these in an emulated host.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.environments.echoing import Client, connected, echo_server
from tests.environments.guests import FAR_NODE, hypervisor, no_kvm
from tests.figures import figure
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import Placement
from tierlab.environments.qemu.domain import QemuDomain
from tierlab.environments.qemu.environment import Qemu
from tierlab.machine.hwloc import pus_at
from tierlab.machine.probes import hypervisor as doctor

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(no_kvm() is not None, reason=str(no_kvm())),
]

MIB = 1 << 20
ON_A_NODE = re.compile(r" N(\d+)=(\d+)")
"""How many pages of a mapping lie on a node: numa_maps of proc(5)."""


@dataclass(frozen=True)
class Guest:
    """A guest on node 1, on a PU for each of its two virtual CPUs."""

    domain: QemuDomain
    address: str
    asked: Placement

    @property
    def process(self) -> Path:
        """The hypervisor's folder in /proc."""
        return Path("/proc", str(hypervisor(self.domain)))


@pytest.fixture(scope="module")
def qemu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Qemu]:
    made = Qemu(Ledger(f"test{os.getpid()}-kvm", tmp_path_factory.mktemp("ledger")))
    yield made
    made.destroy()


@pytest.fixture(scope="module")
def guest(qemu: Qemu) -> Guest:
    """One serves all tests: where the host is emulated, it takes long to boot."""
    pus = frozenset(pus_at(f"package:{FAR_NODE}.core:0-1"))
    asked = Placement(pus=pus, nodes=frozenset({FAR_NODE}), memory=256 * MIB, weight=2048)
    address = qemu.addresses.server(2, 1)
    domain = qemu.create(DomainSpec("app.1", asked, vcpus=2, address=address, moves=True))
    began = time.monotonic()
    domain.start()
    figure(f"ready after {time.monotonic() - began:.1f} s")
    return Guest(domain, address, asked)


def test_the_doctor_says_that_guests_run() -> None:
    (check,) = doctor.checks()
    assert (check.name, check.lost) == ("KVM", None)
    assert "a guest of one instruction ran" in check.seen


def test_a_guest_is_run_by_kvm(qemu: Qemu, guest: Guest) -> None:
    assert qemu.accelerator == "kvm"
    command = (guest.process / "cmdline").read_text().split("\0")
    assert command[command.index("-accel") + 1] == "kvm"
    clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
    said = guest.domain.run(["cat", clocks, "/sys/devices/system/cpu/online"], timeout=60)
    *sources, cpus = said.stdout.split()
    assert "kvm-clock" in sources
    assert cpus == "0-1"


def test_its_virtual_cpus_and_its_memory_are_where_they_were_asked(guest: Guest) -> None:
    check_placed(guest)


def test_it_moves_while_it_runs_and_its_program_only_pauses(qemu: Qemu, guest: Guest) -> None:
    domain = guest.domain
    domain.spawn(echo_server(guest.address), log="echo.log")
    # Writes to its memory meanwhile, so that there is more than one round of copying.
    writes = 'while sleep 0.1; do head -c 1M /dev/zero >"$0"; done'
    domain.spawn(["sh", "-c", writes, "/dev/shm/written"], log="writes.log")
    with Client(connected(qemu, guest.address)) as client:
        began = time.monotonic()
        move = domain.migrate("second")
        took = time.monotonic() - began
    assert [number for _, number in client.answered] == list(range(client.sent))
    check_placed(replace(guest, asked=replace(guest.asked, host="second")))
    assert move.downtime_ns is not None
    # It stands still for the last round alone, and not for all of the copying.
    assert move.downtime_ns / 1e9 < took / 2
    assert client.gap < took / 2
    figure(
        f"moved in {took:.1f} s, {move.rounds} rounds: down for {move.downtime_ns / 1e6:.0f} ms,"
        f" no answer for {client.gap * 1e3:.0f} ms, {client.sent} requests and none lost"
    )


def check_placed(guest: Guest) -> None:
    """By the kernel and libvirt (`verify`), and by each thread and page once more."""
    asked = guest.asked
    assert asked.pus is not None
    assert guest.domain.verify(asked).nodes == {FAR_NODE}
    found = {}
    for task in (guest.process / "task").iterdir():
        status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines())
        assert status["Mems_allowed_list"] == str(FAR_NODE), status
        if status["Name"].endswith("/KVM"):
            found[status["Name"]] = status["Cpus_allowed_list"]
    assert found == {f"CPU {k}/KVM": str(pu) for k, pu in enumerate(sorted(asked.pus))}
    pages = Counter[int]()
    for line in (guest.process / "numa_maps").read_text().splitlines():
        # A file's pages lie where somebody else, perhaps, was the first to read them.
        if " anon=" in line and " file=" not in line:
            pages.update({int(node): int(count) for node, count in ON_A_NODE.findall(line)})
    # A page of the hypervisor's own, which began elsewhere, may be in use when the rest is moved.
    assert pages[FAR_NODE] > 0.999 * pages.total(), pages
    size = pages[FAR_NODE] * os.sysconf("SC_PAGE_SIZE")
    assert size > 64 * MIB  # no less than what the guest has used
    elsewhere = pages.total() - pages[FAR_NODE]
    figure(f"{size / MIB:.0f} MiB on node {FAR_NODE}, {elsewhere} pages elsewhere")
