"""A guest's virtual machine on this host: a QEMU process that libvirt keeps.

It is in the domain's control group like any other domain's processes, so that weight, memory nodes
and accounts are the same there as everywhere; libvirt pins its threads and sets its balloon.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree as ET

from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.domain import Move
from tierlab.environments.identity import Identity, identify, is_alive
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import listed
from tierlab.environments.qemu.hosts import Hosts
from tierlab.environments.qemu.migration import last_move, move, state_file
from tierlab.environments.qemu.xml import Guest, document
from tierlab.environments.snapshots.monitor import MonitorError
from tierlab.environments.snapshots.shelf import Snapshot, unkept, unusable
from tierlab.errors import UserError
from tierlab.machine.kernel_files import parse_list
from tierlab.machine.mapping import HOSTS

KIB = 1 << 10
BALLOON_SECONDS = 30.0
FORGET_SECONDS = 20.0
POLL_SECONDS = 0.05
THREAD = re.compile(r"CPU (\d+)/")
"""How QEMU names the thread of a vCPU."""


class Machine:
    """The virtual machine of one guest."""

    def __init__(self, hosts: Hosts, ledger: Ledger, guest: Guest, kept: Snapshot) -> None:
        """`kept` is what it is restored from, if that is there."""
        self.guest = guest
        self.host: str = HOSTS[0]
        """Where it is."""
        self._kept = kept
        self._hosts = hosts
        self._daemon = hosts.daemon(self.host)
        self._ledger = ledger
        self._process: Identity | None = None
        self.restored = False
        """Whether it came from a snapshot."""

    def start(self, group: Group) -> None:
        """Make it, in the domain's control group before it executes anything.

        It is restored if there is a snapshot of its shape, and else boots.
        """
        self._ledger.add("guest", name=self.guest.identity)
        kept = self._kept
        if kept.exists():
            self._make(group, restored=True)
            try:
                kept.restore(self.guest.monitor)
            except (MonitorError, OSError) as error:
                unusable(kept, error)
                with suppress(UserError):  # QEMU may have given up by itself
                    self._daemon.virsh("destroy", self.guest.identity)
                self.wait_forgotten()
            else:
                self.restored = True
                return
        self._make(group, restored=False)
        self._daemon.virsh("resume", self.guest.identity)

    def _make(self, group: Group, *, restored: bool) -> None:
        described = self.guest.console.with_suffix(".xml")
        described.write_text(document(self.guest, restored=restored))
        self._daemon.virsh("create", str(described), "--paused")
        pid = int(self._state(".pid").read_text())
        self._process = identify(pid)
        _enter(group, pid)

    def keep(self) -> None:
        """Take a snapshot for others of its shape, once it has booted."""
        if not self.restored:
            try:
                self._kept.take(self.guest.monitor, self._ledger)
            except (MonitorError, OSError, UserError) as error:
                unkept(error)

    def move(self, host: str, group: Group) -> Move:
        """Have it go on at another host, in the domain's control group there as well."""
        target = self._hosts.daemon(host)
        # Two ports of one bridge need two names.
        port = self.guest.name if host == HOSTS[0] else f"{self.guest.name}-{HOSTS.index(host)}"
        move(self.guest, self._daemon, target, port, lambda pid: _enter(group, pid))
        self.wait_forgotten()
        self.host, self._daemon = host, target
        try:
            self._process = identify(int(self._state(".pid").read_text()))
            if pins := self.pins():
                self.pin(pins)  # libvirt had, but a control group entered later undoes it
            return last_move(self.guest, target)
        except (UserError, OSError) as error:
            raise UserError(
                f"{self.guest.name}: its guest moved to host {host} and is not well there"
                f" ({error}); what its kernel said last: {self.last_words()}"
            ) from error

    @property
    def pid(self) -> int:
        """Its hypervisor's process id."""
        assert self._process is not None  # made by `start`
        return self._process.pid

    @property
    def socket(self) -> Path:
        """Where the guest's agent is talked to: the daemon has a `/run` of its own."""
        return Path(f"{self._daemon.folder}{self.guest.socket}")

    @property
    def runs(self) -> bool:
        """Whether the hypervisor lives."""
        return self._process is not None and is_alive(self._process)

    def wait_forgotten(self) -> None:
        """Wait until libvirt has seen its end: only then may another bear its name."""
        deadline = time.monotonic() + FORGET_SECONDS
        while self._state(".xml").exists() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)

    def last_words(self) -> str:
        """What the guest's kernel said last."""
        console = self.guest.console
        said = console.read_text(errors="replace") if console.exists() else ""
        return (said.strip().splitlines() or ["nothing"])[-1]

    def pin(self, pus: Sequence[frozenset[int]]) -> None:
        """Pin each vCPU to its PUs, and the hypervisor's other threads to all of them."""
        name, everywhere = self.guest.identity, frozenset[int]().union(*pus)
        commands = [
            *(f"vcpupin {name} {k} {listed(mine)} --live" for k, mine in enumerate(pus)),
            f"emulatorpin {name} {listed(everywhere)} --live",
        ]
        self._daemon.virsh("; ".join(commands))

    def pins(self) -> list[frozenset[int]]:
        """Where each vCPU may run, by libvirt's own word; empty while none was pinned."""
        found = self._definition().iterfind("cputune/vcpupin")
        by_number = {int(pin.get("vcpu", "")): pin.get("cpuset", "") for pin in found}
        return [frozenset(parse_list(by_number[number])) for number in sorted(by_number)]

    def affinities(self) -> list[frozenset[int]]:
        """Where the kernel lets each vCPU's thread run; empty if the hypervisor is gone."""
        if self._process is None or not self.runs:
            return []
        found = {}
        for task in Path(f"/proc/{self._process.pid}/task").iterdir():
            named = THREAD.match((task / "comm").read_text())
            if named is not None:
                found[int(named[1])] = _allowed(task)
        return [found[number] for number in sorted(found)]

    def set_memory(self, size: int) -> None:
        """Leave the guest so many bytes; the balloon takes the rest."""
        guest = self.guest
        if size > guest.memory:
            raise UserError(
                f"{guest.name}: a guest cannot have more than the {guest.memory >> 20} MiB that it"
                " was started with; ask for the most in `memory`, and take from that."
            )
        self._daemon.virsh("setmem", guest.identity, str(size // KIB), "--live")
        deadline = time.monotonic() + BALLOON_SECONDS
        while self.memory() != size and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)

    def memory(self) -> int:
        """Bytes that the guest is left with, as the hypervisor told libvirt last."""
        said = self._definition().findtext("currentMemory")
        return int(said or 0) * KIB

    def _definition(self) -> ET.Element:
        """The running domain as libvirt has it written down; asking would cost a process."""
        found = ET.parse(self._state(".xml")).getroot().find("domain")
        if found is None:
            raise UserError(f"{self.guest.name}: libvirt does not know its guest any more.")
        return found

    def _state(self, suffix: str) -> Path:
        return state_file(self._daemon, self.guest, suffix)


def _enter(group: Group, pid: int) -> None:
    for folder in group.entrances():
        (folder / "cgroup.procs").write_text(str(pid))


def _allowed(task: Path) -> frozenset[int]:
    lines = (task / "status").read_text().splitlines()
    line = next(line for line in lines if line.startswith("Cpus_allowed_list:"))
    return frozenset(parse_list(line.split()[1]))
