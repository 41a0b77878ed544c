"""A domain of the QEMU environment: a guest with a kernel, an address and a memory of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.domain import DomainSpec, DomainStats, Move
from tierlab.environments.guests.agent import AgentSilentError, GuestAgent
from tierlab.environments.guests.configuration import Configuration
from tierlab.environments.guests.disk import STAGE, WHOLE, WholeDisk, make_disk
from tierlab.environments.guests.domain import USUAL_MEMORY, GuestDomain, check_seats, seats
from tierlab.environments.guests.patience import Patience
from tierlab.environments.guests.words import SHARE, link
from tierlab.environments.images.image import Image
from tierlab.environments.ledger import Entry
from tierlab.environments.native.host_domain import Ground, HostDomain
from tierlab.environments.placement import Placement, listed
from tierlab.environments.qemu.hosts import Hosts
from tierlab.environments.qemu.machine import Machine
from tierlab.environments.qemu.simulated_caches import SimulatedCaches
from tierlab.environments.qemu.xml import Guest
from tierlab.environments.snapshots.shelf import Snapshot, snapshot
from tierlab.errors import UserError

BOOT_SECONDS = 120.0
"""Of a processor: ten times what a guest with one takes."""
ASK_SECONDS = 5.0
ASK_SCRIPT_SECONDS = 60.0


@dataclass(frozen=True)
class Hypervisor:
    """What the guests of a trial have in common."""

    hosts: Hosts
    image: Image
    accelerated: bool
    sysctls: Mapping[str, int]
    folder: Path
    """For their consoles and disks."""
    caches: SimulatedCaches | None = None
    """Those that are simulated for them."""


def identity(trial: str, name: str) -> str:
    """What libvirt calls the guest of a trial's server."""
    return f"tierlab-{trial}-{name}"


class QemuDomain(GuestDomain):
    """One guest."""

    def __init__(self, ground: Ground, spec: DomainSpec, hypervisor: Hypervisor) -> None:
        super().__init__(ground, spec)
        self._hypervisor = hypervisor
        self._machine: Machine | None = None
        self._is_new = True
        if spec.moves:
            self._disk = WholeDisk(self.folder, (WHOLE,), self._as_root, SHARE)

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
        self._agent = GuestAgent(machine.socket)
        patience = Patience(machine.pid, BOOT_SECONDS)
        while not self._agent.answers(ASK_SECONDS):
            if patience.is_over():
                raise UserError(
                    f"{self.spec.name}: its guest does not come up; what its kernel said last:"
                    f" {machine.last_words()}"
                )
        if (caches := self._hypervisor.caches) is not None:
            caches.add(self.spec.name, self._ask)
        if self._is_new:
            machine.keep()
            self._configuration().apply(self._agent)
            self._is_new = False
        if self.spec.placement != Placement():
            self.place(self.spec.placement)

    @property
    def snapshot(self) -> Snapshot:
        """What it is restored from, if that is there."""
        return snapshot(self._hypervisor.image, self._guest().shape())

    @property
    def restored(self) -> bool:
        """Whether it came from a snapshot, and did not boot."""
        return self._machine is not None and self._machine.restored

    def _make_group(self) -> Group:
        ground, hypervisor = self._ground, self._hypervisor
        assert ground.hierarchy is not None  # `probe` refuses a machine without
        for name in (STAGE,) if self.spec.moves else self.spec.disk:
            HostDomain.make_folder(self, name)  # on this host: there is no guest yet
        guest = self._guest()
        if (caches := hypervisor.caches) is not None:
            plugin = caches.plugin(self.spec.name, guest.vcpus, self.spec.placement.pus)
            guest = replace(guest, plugin=plugin)
        if guest.disk is not None:
            make_disk(guest.disk)
        group = ground.hierarchy.make(ground.ledger, self.spec.name)
        if (nodes := self.spec.placement.nodes) is not None:
            # Before it boots: what it has by then would have to be moved, and some of it is left.
            ground.hierarchy.set_nodes(group, listed(nodes))
        self._machine = Machine(hypervisor.hosts, ground.ledger, guest, self.snapshot)
        self._machine.start(group)
        return group

    def _guest(self) -> Guest:
        spec, hypervisor = self.spec, self._hypervisor
        own = hypervisor.folder / spec.name
        return Guest(
            name=spec.name,
            identity=self._identity,
            image=hypervisor.image,
            accelerated=hypervisor.accelerated,
            memory=spec.placement.memory or USUAL_MEMORY,
            shared=self.folder / STAGE if spec.moves else self.folder,
            socket=Path("/run", f"{spec.name}.agent"),
            console=own.with_name(f"{spec.name}.console"),
            monitor=own.with_name(f"{spec.name}.monitor"),
            token=self._ground.ledger.token,
            vcpus=spec.vcpus or 1,
            topology=spec.topology,
            link=None if spec.address is None else link(spec.address),
            disk=own.with_name(f"{spec.name}.disk") if self._disk.names else None,
        )

    def _ask(self, script: str) -> str:
        """What the guest's shell says to a script of root's; nothing if it does not answer."""
        try:
            done = self._agent_here().run(["/bin/sh", "-c", script], ASK_SCRIPT_SECONDS)
        except AgentSilentError:
            return ""
        return "" if done is None else done.stdout

    def _configuration(self) -> Configuration:
        spec, user = self.spec, self._ground.user
        assert user is not None  # `probe` refuses a machine without setpriv
        return Configuration(
            name=spec.name,
            folder=self.folder,
            user=user.pw_uid,
            bus="virtio",
            disk="/dev/vdb",
            disk_folders=tuple(self._disk.names),
            link=None if spec.address is None else link(spec.address),
            sysctls=self._hypervisor.sysctls,
        )

    def destroy(self) -> None:
        """Remove guest, folder and control groups."""
        try:
            super().destroy()
        finally:
            if self._machine is not None:
                self._machine.wait_forgotten()
            self._machine = None

    def _is_mine(self, entry: Entry) -> bool:
        if entry.kind == "guest":
            return self._machine is not None and entry.what["name"] == self._identity
        return super()._is_mine(entry)

    @property
    def _identity(self) -> str:
        return identity(self._ground.ledger.trial, self.spec.name)

    def pin(self, pus: frozenset[int]) -> None:
        """Pin each vCPU to a PU of its own while they last; fewer vCPUs share all of the PUs."""
        super().pin(pus)
        machine = self._machine_here()
        machine.pin(seats(machine.guest.vcpus, pus))

    def migrate(self, host: str) -> Move:
        """Move to another host; the programs in it, and who knows them, take no notice."""
        machine, group = self._machine_here(), self._group
        assert group is not None  # made with the machine
        if not self.spec.moves:
            raise UserError(
                f"{self.spec.name}: its folder is shared with its host, which it cannot leave then;"
                " say from the start that it moves."
            )
        if host == machine.host:
            raise UserError(f"{self.spec.name}: it is on host {host} already; name another.")
        moved = machine.move(host, group)
        self._agent_here().call_again(machine.socket)
        return moved

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
        host = machine.host if machine.runs else None
        return replace(super().read_back(), pus=pus, memory=machine.memory(), host=host)

    def verify(self, placement: Placement) -> Placement:
        """Look at each vCPU besides: the kernel's word, libvirt's and ours must be the same."""
        found = super().verify(placement)
        if placement.pus is not None:
            machine = self._machine_here()
            asked = seats(machine.guest.vcpus, placement.pus)
            for who, has in (("the kernel", machine.affinities()), ("libvirt", machine.pins())):
                check_seats(self.spec.name, who, has, asked)
        return found

    def _machine_here(self) -> Machine:
        if self._machine is None:
            raise UserError(f"{self.spec.name}: a domain can be placed only after its start.")
        return self._machine
