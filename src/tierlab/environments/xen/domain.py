"""A domain of the Xen environment: a paravirtual guest on a host that runs Xen."""

from __future__ import annotations

import time
from dataclasses import replace

from tierlab.environments.capability import Capability
from tierlab.environments.domain import DomainSpec, DomainStats, Topology
from tierlab.environments.guests.agent import GuestAgent
from tierlab.environments.guests.configuration import Configuration
from tierlab.environments.guests.domain import USUAL_MEMORY, GuestDomain, check_seats, seats
from tierlab.environments.guests.process import GuestProcess
from tierlab.environments.guests.words import KERNEL_WORDS, link
from tierlab.environments.native.host_domain import Ground, HostDomain
from tierlab.environments.placement import Placement, listed
from tierlab.environments.xen import toolstack as xen_toolstack
from tierlab.environments.xen.host import XenHost
from tierlab.environments.xen.machine import NEAR, PUS, ROOT_DEVICE, Seat
from tierlab.environments.xen.toolstack import DISK, MIB, Description, Kernel, Seen
from tierlab.errors import UserError

ASK_SECONDS = 2.0
"""Between two questions whether the agent is there: it throws away what came before it."""
MEMORY_SECONDS = 30.0

_KEEP = """\
set -e
name=$1 config=$2 wire=$3 mac=$4 disk=$5 port=$6
if [ ! -e "/sys/class/net/$wire" ]; then
    card=$(grep -l "$mac" /sys/class/net/*/address | cut -d/ -f5)
    ip link add "$wire" type bridge
    ip link set "$card" master "$wire" up
    ip link set "$wire" up
fi
[ -z "$disk" ] || mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=1 "$disk"
flock --close /run/creating xl create -e "$config" </dev/null
console=$(xenstore-read "/local/domain/$(xl domid "$name")/console/tty")
for at in /sys/class/virtio-ports/*; do
    if [ "$(cat "$at/name")" = "$port" ]; then channel=/dev/${at##*/}; fi
done
exec socat "$channel" "$console,rawer"
"""
"""Makes a domain, and then carries what is said on its console to the seat's port, and back.

One is made after the other: each time domain 0 needs room for a kernel and what is made of it.
"""


class XenDomain(GuestDomain):
    """One domain on a host that runs Xen."""

    def __init__(self, ground: Ground, spec: DomainSpec, host: XenHost) -> None:
        super().__init__(ground, spec)
        self._host = host
        self._seat: Seat | None = None
        self._keeper: GuestProcess | None = None
        """What made the domain, and carries its console."""
        self._is_new = True

    def boot(self) -> None:
        """Have the domain made; the first of a trial waits for the host to be up."""
        if self._keeper is not None:
            return
        spec, host = self.spec, self._host
        if spec.topology != Topology():
            raise UserError(
                f"{spec.name}: a domain of Xen's has one socket here; leave the topology out."
            )
        self._check_there(spec.placement.pus or PUS)
        host.wait_ready()
        self.folder.mkdir(mode=0o750)
        self.own(self.folder)
        for name in spec.disk:
            HostDomain.make_folder(self, name)  # on this host: there is no guest yet
        self._seat = seat = host.take_seat(spec.name)
        self._agent = GuestAgent(seat.socket)  # the port is open only while somebody listens
        file = seat.folder / f"{spec.name}.cfg"
        file.write_text(self._description(seat).text())
        disk = seat.device if spec.disk else ""
        self._keeper = host.start(
            _KEEP, [spec.name, str(file), seat.wire, seat.mac, disk, seat.port]
        )

    def start(self) -> None:
        """Boot it if it was not, and place it once it takes commands."""
        self.boot()
        patience = self._host.patience()
        while not self._agent_here().answers(ASK_SECONDS):
            if self._keeper is not None and self._keeper.poll() is not None:
                said = " | ".join("".join(self._keeper.output).split("\n")[-4:])
                raise UserError(f"{self.spec.name}: Xen cannot make its domain: {said}")
            if patience.is_over():
                raise UserError(
                    f"{self.spec.name}: its domain does not come up; use fewer servers, or a"
                    " machine that is less busy."
                )
        if self._is_new:
            self._configuration().apply(self._agent_here())
            self._is_new = False
        if self.spec.placement != Placement():
            self.place(replace(self.spec.placement, nodes=None))
            self.verify(self.spec.placement)

    def _make_group(self) -> None:
        """None: no process of this host's is the domain's alone."""

    def _description(self, seat: Seat) -> Description:
        spec, host = self.spec, self._host
        placement, end = spec.placement, None if spec.address is None else link(spec.address)
        # Xen takes a domain's memory from the nodes of the PUs that it is built on.
        built_on = placement.pus
        if placement.nodes is not None:
            built_on = frozenset[int]().union(*(NEAR[node] for node in placement.nodes))
        memory = placement.memory or USUAL_MEMORY
        return Description(
            kernel=Kernel(spec.name, memory, self._vcpus, ("console=hvc0", *KERNEL_WORDS)),
            built_on=built_on,
            folder=self.folder,
            root=ROOT_DEVICE,
            hotplug=host.machine.hotplug,
            disk=seat.device if spec.disk else None,
            bridge=None if end is None else seat.wire,
            mac=None if end is None else end.mac,
        )

    def _configuration(self) -> Configuration:
        spec, user = self.spec, self._ground.user
        assert user is not None  # `probe` refuses a machine without setpriv
        return Configuration(
            name=spec.name,
            folder=self.folder,
            user=user.pw_uid,
            bus="xen",
            disk=f"/dev/{DISK}",
            disk_folders=spec.disk,
            link=None if spec.address is None else link(spec.address),
            sysctls=self._host.sysctls,
        )

    @property
    def _vcpus(self) -> int:
        return self.spec.vcpus or 1

    def destroy(self) -> None:
        """Remove domain and folder; its programs end with it."""
        self._processes.clear()
        try:
            if self._keeper is not None:
                self._host.forget(self.spec.name)
        finally:
            if self._keeper is not None:
                self._keeper.stop(0.0)
            if self._seat is not None:
                self._host.give_back(self._seat)
            self._seat = self._keeper = None
            super().destroy()

    def pin(self, pus: frozenset[int]) -> None:
        """Pin each vCPU to a PU of its own while they last; fewer vCPUs share all of the PUs."""
        self._check_there(pus)
        self._change(xen_toolstack.pin(self.spec.name, seats(self._vcpus, pus)))

    def set_nodes(self, nodes: frozenset[int]) -> None:
        """Refuse any other than those that it was started on: a domain's memory stays there."""
        if nodes != self.read_back().nodes:
            raise self._refusal(Capability.MOVE_MEMORY)

    def set_weight(self, weight: int) -> None:
        """Set its share of contended PUs."""
        self._change(xen_toolstack.set_weight(self.spec.name, weight))

    def set_memory(self, limit: int) -> None:
        """Leave the domain so many bytes of what it was started with, by its balloon."""
        most = self.spec.placement.memory or USUAL_MEMORY
        if limit > most:
            raise UserError(
                f"{self.spec.name}: a domain cannot have more than the {most // MIB} MiB that it"
                " was started with; ask for the most in `memory`, and take from that."
            )
        self._change(xen_toolstack.set_memory(self.spec.name, limit))
        deadline = time.monotonic() + MEMORY_SECONDS
        while self._seen_now().memory != limit and time.monotonic() < deadline:
            continue

    def stats(self) -> DomainStats:
        """By Xen's account alone, its CPU time to a tenth of a second; nobody inside is asked."""
        seen = self._seen_now()
        return DomainStats(seen.cpu_ns, seen.memory, processes=None)

    def read_back(self) -> Placement:
        """From Xen: each vCPU's hard affinity, the nodes that hold its memory, weight and size."""
        seen = self._host.look(self.spec.name)
        pus = frozenset[int]().union(*(PUS if each is None else each for each in seen.vcpus))
        return Placement(
            pus=pus, weight=seen.weight, memory=seen.memory, nodes=frozenset(seen.pages)
        )

    def verify(self, placement: Placement) -> Placement:
        """Look at each vCPU besides."""
        found = super().verify(placement)
        if placement.pus is not None:
            seen = self._host.look(self.spec.name)
            has = [PUS if each is None else each for each in seen.vcpus]
            check_seats(self.spec.name, "Xen", has, seats(self._vcpus, placement.pus))
        return found

    def _check_there(self, pus: frozenset[int]) -> None:
        if not pus <= PUS:
            raise UserError(
                f"{self.spec.name}: the host for Xen has no PU {listed(pus - PUS)}; choose among"
                f" {listed(PUS)}."
            )

    def _change(self, command: str) -> None:
        if self._keeper is None:
            raise UserError(f"{self.spec.name}: a domain can be placed only after its start.")
        self._host.change(command, self.spec.name)

    def _seen_now(self) -> Seen:
        return self._host.look(self.spec.name, at_most=0.0)
