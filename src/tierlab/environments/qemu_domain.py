"""A domain of the QEMU environment: a guest with a kernel, an address and a memory of its own.

Its folder is this host's, shared with the guest at the same path; what has to be fast lies on a
disk of the guest's own, below the same names.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tierlab.environments import guest_process
from tierlab.environments.base import (
    Completed,
    DomainSpec,
    DomainStats,
    Inside,
    Placement,
    listed,
)
from tierlab.environments.cgroup import Group
from tierlab.environments.guest_agent import AgentSilentError, GuestAgent
from tierlab.environments.guest_disk import STAGE, DiskFolders, make_disk
from tierlab.environments.guest_process import GROUPS, GuestProcess
from tierlab.environments.host_domain import CAPABILITIES, Ground, HostDomain
from tierlab.environments.image import Image
from tierlab.environments.ledger import Entry
from tierlab.environments.libvirt_daemon import LibvirtDaemon
from tierlab.environments.process import Process
from tierlab.environments.qemu_machine import Machine
from tierlab.environments.qemu_xml import Guest, link
from tierlab.environments.removal import GRACE
from tierlab.errors import UserError

USUAL_MEMORY = 1 << 30
"""Bytes of a guest for which none are asked."""
BOOT_SECONDS = 120.0
COPY_SECONDS = 600.0


@dataclass(frozen=True)
class Hypervisor:
    """What the guests of a trial have in common."""

    daemon: LibvirtDaemon
    image: Image
    accelerated: bool
    sysctls: Mapping[str, int]
    folder: Path
    """For their sockets, consoles and disks."""


class QemuDomain(HostDomain):
    """One guest."""

    given_up = (*HostDomain.given_up, *CAPABILITIES)

    def __init__(self, ground: Ground, spec: DomainSpec, hypervisor: Hypervisor) -> None:
        super().__init__(ground, spec)
        self._hypervisor = hypervisor
        self._machine: Machine | None = None
        self._agent: GuestAgent | None = None
        self._numbers = itertools.count(1)
        self._disk = DiskFolders(self.folder, spec.disk, self._as_root)

    def boot(self) -> None:
        """Start the guest; `start` waits until it takes commands."""
        if self._group is None:
            self.folder.mkdir(mode=0o750)
            self.own(self.folder)
            self._group = self._make_group()

    def start(self) -> None:
        """Boot the guest if it was not, and place it once it takes commands."""
        self.boot()
        machine = self._machine_here()
        self._agent = GuestAgent(machine.guest.socket)
        if not self._agent.answers(BOOT_SECONDS):
            raise UserError(
                f"{self.spec.name}: its guest does not answer after {BOOT_SECONDS:g} seconds; what"
                f" its kernel said last: {machine.last_words()}"
            )
        if self.spec.placement != Placement():
            self.place(self.spec.placement)

    def _make_group(self) -> Group:
        ground, hypervisor = self._ground, self._hypervisor
        assert ground.hierarchy is not None  # `probe` refuses a machine without
        for name in self.spec.disk:
            super().make_folder(name)
        guest = self._guest()
        if guest.disk is not None:
            make_disk(guest.disk)
        group = ground.hierarchy.make(ground.ledger, self.spec.name)
        self._machine = Machine(hypervisor.daemon, ground.ledger, guest)
        self._machine.start(group)
        return group

    def _guest(self) -> Guest:
        spec, hypervisor, user = self.spec, self._hypervisor, self._ground.user
        assert user is not None  # nor without setpriv
        own = hypervisor.folder / spec.name
        return Guest(
            name=spec.name,
            identity=self._identity,
            image=hypervisor.image,
            accelerated=hypervisor.accelerated,
            memory=spec.placement.memory or USUAL_MEMORY,
            folder=self.folder,
            socket=own.with_name(f"{spec.name}.agent"),
            console=own.with_name(f"{spec.name}.console"),
            user=user.pw_uid,
            token=self._ground.ledger.token,
            vcpus=spec.vcpus or 1,
            topology=spec.topology,
            link=None if spec.address is None else link(spec.address),
            disk=own.with_name(f"{spec.name}.disk") if spec.disk else None,
            disk_folders=spec.disk,
            sysctls=hypervisor.sysctls,
        )

    def _entry(self) -> Sequence[str]:
        """Nothing on this host is entered."""
        return []

    def inside(self) -> Inside:
        """The way in, as root of the guest."""
        return _Inside(self)

    def stop(self) -> None:
        """End every program in the guest; the guest itself stays."""
        for process in self._processes:
            process.stop(GRACE)
        self._processes.clear()

    def destroy(self) -> None:
        """Stop, and remove guest, folder and control groups."""
        try:
            super().destroy()
        finally:
            if self._agent is not None:
                self._agent.close()
            if self._machine is not None:
                self._machine.wait_forgotten()
            self._agent = self._machine = None

    def _is_mine(self, entry: Entry) -> bool:
        if entry.kind == "guest":
            return self._machine is not None and entry.what["name"] == self._identity
        return super()._is_mine(entry)

    @property
    def _identity(self) -> str:
        """What libvirt calls the guest."""
        return f"tierlab-{self._ground.ledger.trial}-{self.spec.name}"

    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        """Run a command to its end, as the servers' user."""
        process = self.start_program([*self._unprivileged(), *argv])
        status = process.wait(timeout)
        process.stop(0.0)
        if status is None:
            raise UserError(
                f"{self.spec.name}: '{argv[0]}' did not end within {timeout:g} seconds."
            )
        return Completed(status, *process.output)

    def spawn(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start a server's program in the guest."""
        return self.start_program([*self._unprivileged(), *argv], log=log, env=env)

    def start_program(
        self, argv: Sequence[str], *, log: str | None = None, env: Mapping[str, str] | None = None
    ) -> GuestProcess:
        """Start a program as root, in the domain's folder; without a log, its words are kept."""
        if log is not None:
            self.make_folder(str(Path(log).parent))
            (self.folder / log).touch()
        process = guest_process.start(
            self._agent_here(),
            argv,
            group=str(next(self._numbers)),
            folder=str(self.folder),
            log="" if log is None else str(self.folder / log),
            env=env,
        )
        if log is not None:
            self._processes.append(process)
        return process

    def put(self, source: Path, name: str) -> Path:
        """Copy a file or a tree into the folder, or onto the guest's disk."""
        if not self._disk.hold(name):
            return super().put(source, name)
        return self._disk.bring_in(super().put(source, f"{STAGE}/{Path(name).name}"), name)

    def write(self, name: str, text: str) -> Path:
        """Write a text file."""
        if not self._disk.hold(name):
            return super().write(name, text)
        return self._disk.bring_in(super().write(f"{STAGE}/{Path(name).name}", text), name)

    def make_folder(self, name: str) -> Path:
        """Make a folder in the folder."""
        if not self._disk.hold(name):
            return super().make_folder(name)
        path, user = self.folder / name, self._ground.user
        assert user is not None  # `probe` refuses a machine without setpriv
        owner = ["--owner", str(user.pw_uid), "--group", str(user.pw_gid)]
        self._as_root(["install", "-d", *owner, str(path)])
        return path

    def get(self, name: str, target: Path) -> None:
        """Copy a file or a tree out of the folder, or off the guest's disk."""
        if not self._disk.hold(name):
            super().get(name, target)
            return
        with self._disk.brought_out(name) as copy:
            super().get(str(copy.relative_to(self.folder)), target)

    def _as_root(self, argv: Sequence[str]) -> None:
        process = self.start_program(argv)
        status = process.wait(COPY_SECONDS)
        process.stop(0.0)
        if status != 0:
            raise UserError(f"{self.spec.name}: {argv[0]} fails in the guest: {process.output[1]}")

    def pin(self, pus: frozenset[int]) -> None:
        """Pin each vCPU to a PU of its own while they last; fewer vCPUs share all of the PUs."""
        super().pin(pus)
        self._machine_here().pin(self._machine_here().seats(pus))

    def set_memory(self, limit: int) -> None:
        """Leave the guest so many bytes of what it was started with."""
        self._machine_here().set_memory(limit)

    def stats(self) -> DomainStats:
        """What its hypervisor used; the programs are those inside."""
        return replace(super().stats(), processes=len(self.pids()))

    def read_back(self) -> Placement:
        """From the kernel, by the hypervisor's threads; memory from the balloon."""
        machine = self._machine_here()
        pus = frozenset[int]().union(*machine.affinities())
        return replace(super().read_back(), pus=pus, memory=machine.memory())

    def verify(self, placement: Placement) -> Placement:
        """Look at each vCPU besides: the kernel's word, libvirt's and ours must be the same."""
        found = super().verify(placement)
        if placement.pus is not None:
            machine = self._machine_here()
            asked = machine.seats(placement.pus)
            for who, has in (("kernel", machine.affinities()), ("libvirt", machine.pins())):
                if has != asked:
                    raise UserError(
                        f"{self.spec.name}: its vCPUs are asked to run on PUs {_shown(asked)}, and"
                        f" by the {who}'s word they run on {_shown(has)}; leave its threads alone."
                    )
        return found

    def pids(self) -> list[int]:
        """List the programs in the guest, by its own numbers."""
        if self._agent is None:
            return []
        try:
            return guest_process.pids(self._agent, GROUPS)
        except AgentSilentError:
            return []

    def _agent_here(self) -> GuestAgent:
        if self._agent is None:
            raise UserError(f"{self.spec.name}: a guest takes commands only after its start.")
        return self._agent

    def _machine_here(self) -> Machine:
        if self._machine is None:
            raise UserError(f"{self.spec.name}: a domain can be placed only after its start.")
        return self._machine


class _Inside(Inside):
    def __init__(self, domain: QemuDomain) -> None:
        self._domain = domain

    def spawn(self, argv: Sequence[str], *, log: str) -> Process:
        return self._domain.start_program(argv, log=log)


def _shown(pus: Sequence[frozenset[int]]) -> str:
    return " | ".join(map(listed, pus)) or "none"
