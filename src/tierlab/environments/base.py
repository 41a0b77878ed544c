"""The interface of every environment: a way to make domains, each a unit of isolation on a host.

What an environment cannot do it declares by name with the reason (`Probe.cannot`); asking for it
all the same is a `UserError`, never a silent no-op.
"""

from __future__ import annotations

import resource
import socket
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Literal

from tierlab.environments.accounts import Accounts
from tierlab.environments.addresses import LOOPBACK, Addresses
from tierlab.environments.neighbour import Neighbour
from tierlab.environments.process import Process
from tierlab.errors import UserError
from tierlab.machine.hwloc import HOST
from tierlab.machine.mapping import USUAL_WEIGHT, Seats

Accelerator = Literal["kvm", "tcg"]
"""What runs a virtual machine's processors: this host's own, or QEMU, which emulates them."""


class Capability(StrEnum):
    """What an environment may be able to do on this host."""

    NETWORK = "network"
    """A network of the trial's own: its TCP counters, ports and sysctls are nobody else's."""
    ACCOUNTING = "accounting"
    """CPU time and memory per domain, from the kernel."""
    PIN = "pin"
    WEIGHT = "weight"
    MEMORY = "memory"
    DISK = "disk"
    """A limit on what a domain reads and writes."""
    MIGRATE = "migrate"
    UNPRIVILEGED = "unprivileged"
    """Servers run as a user without rights of its own (always so if the caller has none)."""
    RETRIES = "retries"
    """How long TCP waits before it sends a connection request again."""
    PROCESSES = "processes"
    """Servers' processes are this host's: they are seen and reached from outside their domain."""
    MOVE_MEMORY = "move-memory"
    """The memory of a running domain can be moved to other NUMA nodes."""
    VCPUS = "vcpus"
    """A domain has virtual CPUs of its own, as many as asked."""
    MESSAGES = "messages"
    """All messages between servers pass one interface of this host's."""
    NEIGHBOURS = "neighbours"
    """Domains that only compute can be put beside the system's."""


@dataclass(frozen=True)
class Probe:
    """What an environment can do on this host, why it cannot do the rest, and what there is."""

    environment: str
    can: frozenset[Capability]
    cannot: Mapping[Capability, str]
    pus: frozenset[int]
    """Processing units that are online, by the operating system's numbers."""
    memory: int
    """Bytes."""
    nodes: frozenset[int]
    """NUMA nodes, by the operating system's numbers."""
    machine: str = HOST
    """Whose PUs and nodes these are, as a source of hwloc's (see `tierlab.machine.hwloc`)."""


WEIGHT_STEP = USUAL_WEIGHT / 100
PAGE = resource.getpagesize()


@dataclass(frozen=True)
class Placement:
    """What a domain may use. None means that nothing was asked (or, read back, not limited)."""

    pus: frozenset[int] | None = None
    """Processing units, by the operating system's numbers."""
    weight: int | None = None
    """Share of the CPU under contention, in proportion to the other domains'; 1024 is the usual."""
    memory: int | None = None
    """Bytes."""
    disk_writes: int | None = None
    """Bytes a second to the disk that its folder lies on."""
    disk_reads: int | None = None
    """Read operations a second from that disk."""
    nodes: frozenset[int] | None = None
    """NUMA nodes that its memory is on, by the operating system's numbers."""
    host: str | None = None
    """The host that it runs on, where an environment has several."""

    def changed(self, other: Placement) -> Placement:
        """This placement with all that `other` asks for."""
        given = {f.name: v for f in fields(other) if (v := getattr(other, f.name)) is not None}
        return replace(self, **given)

    def difference(self, found: Placement) -> str | None:
        """Say in words where `found` is not what was asked here; None if it is.

        The kernel keeps memory limits in whole pages and, in version 2 of the control groups,
        weights in steps of 1 % of the usual; what is lost in rounding is no difference.
        """
        if self.host is not None and self.host != found.host:
            return f"host {self.host} asked, {found.host} found"
        sets = {"PUs": (self.pus, found.pus), "memory nodes": (self.nodes, found.nodes)}
        for what, (asked, got) in sets.items():
            if asked is not None and asked != got:
                return f"{what} {listed(asked)} asked, {listed(got)} found"
        if self.weight is not None and (
            found.weight is None or abs(self.weight - found.weight) > WEIGHT_STEP / 2
        ):
            return f"weight {self.weight} asked, {found.weight} found"
        if self.memory is not None and (
            found.memory is None or abs(self.memory - found.memory) >= PAGE
        ):
            return f"memory limit {self.memory} bytes asked, {found.memory} found"
        for what in ("disk_writes", "disk_reads"):
            asked, got = getattr(self, what), getattr(found, what)
            if asked is not None and asked != got:
                return f"{what.replace('_', ' ')} {asked} a second asked, {got} found"
        return None


def listed(numbers: frozenset[int] | None) -> str:
    """Show a set of PUs or nodes as the kernel writes it, such as ``0,2,3``."""
    return "no limit" if numbers is None else ",".join(map(str, sorted(numbers))) or "none"


@dataclass(frozen=True)
class Topology:
    """How virtual CPUs appear inside a domain: spread evenly over sockets."""

    sockets: int = 1
    numa: bool = False
    """Whether each socket is a NUMA node with its share of the memory."""


@dataclass(frozen=True)
class DomainSpec:
    """What to create: one domain, named after the subject that lives in it (``db.1``)."""

    name: str
    placement: Placement = field(default_factory=Placement)
    vcpus: int | None = None
    """How many virtual CPUs, where it has its own; None leaves it to the environment."""
    topology: Topology = field(default_factory=Topology)
    """Of the virtual CPUs."""
    address: str | None = None
    """Its own on the trial's network, where it has one; None for what nobody connects to."""
    disk: tuple[str, ...] = ()
    """Folders in its folder that are to lie on a disk of its own, where it has one."""
    moves: bool = False
    """Whether it is to move to another host while it runs."""


@dataclass(frozen=True)
class DomainStats:
    """What a domain has used since it was created; None where it is not measured."""

    cpu_ns: int | None
    memory_bytes: int | None
    processes: int | None


@dataclass(frozen=True)
class Move:
    """How a domain moved to another host, by its hypervisor; None for what that does not tell."""

    downtime_ns: int | None
    """How long its programs stood still."""
    copied_bytes: int | None
    """Of its memory and its devices' state."""
    rounds: int | None
    """How often its memory was gone through for what had been written to meanwhile."""


@dataclass(frozen=True)
class Completed:
    """A command that has ended inside a domain."""

    status: int
    stdout: str
    stderr: str


class Inside(ABC):
    """The laboratory's way into a domain with a kernel of its own."""

    @abstractmethod
    def spawn(self, argv: Sequence[str], *, log: str) -> Process:
        """Start a program of the laboratory inside, with all rights there; `log` as a domain's."""


class Domain(ABC):
    """One unit of isolation. Its `folder` is where its files lie, as seen from inside it."""

    spec: DomainSpec
    folder: Path

    def boot(self) -> None:
        """Begin what takes long of `start`, which then goes on from there; return at once."""
        return

    @abstractmethod
    def start(self) -> None:
        """Make the domain ready to run programs, placed as its spec asks."""

    @abstractmethod
    def stop(self) -> None:
        """End every process in the domain; its files remain."""

    @abstractmethod
    def destroy(self) -> None:
        """Stop, and remove all that `start` made, the files too."""

    @abstractmethod
    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        """Run a command to its end; `UserError` if it takes longer than `timeout` seconds."""

    @abstractmethod
    def spawn(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start a long-running program, its output appended to file `log` in the folder."""

    @abstractmethod
    def put(self, source: Path, name: str) -> Path:
        """Copy a file or a tree into the folder, readable by the domain's programs."""

    @abstractmethod
    def write(self, name: str, text: str) -> Path:
        """Write a text file into the folder, readable by the domain's programs."""

    @abstractmethod
    def make_folder(self, name: str) -> Path:
        """Make a folder in the folder, writable by the domain's programs."""

    @abstractmethod
    def get(self, name: str, target: Path) -> None:
        """Copy a file or a tree out of the folder."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Whether there is such a file or folder in the folder."""

    @abstractmethod
    def text(self, name: str) -> str | None:
        """Read a text file in the folder as it is now; None if there is none."""

    @abstractmethod
    def pin(self, pus: frozenset[int]) -> None:
        """Let the domain run on these PUs only."""

    @abstractmethod
    def set_nodes(self, nodes: frozenset[int]) -> None:
        """Keep the domain's memory on these NUMA nodes; what lies elsewhere moves there."""

    @abstractmethod
    def set_weight(self, weight: int) -> None:
        """Set the domain's share of the CPU relative to its siblings'."""

    @abstractmethod
    def set_memory(self, limit: int) -> None:
        """Limit the domain's memory, in bytes."""

    @abstractmethod
    def set_disk(self, writes: int | None, reads: int | None) -> None:
        """Limit bytes written and read operations, each a second; None leaves one alone."""

    @abstractmethod
    def migrate(self, host: str) -> Move:
        """Move the running domain to another host, where it is placed as its spec says."""

    @abstractmethod
    def stats(self) -> DomainStats:
        """Read what the domain has used so far."""

    @abstractmethod
    def read_back(self) -> Placement:
        """Read from the kernel or hypervisor how the domain is placed now."""

    @abstractmethod
    def cgroups(self) -> Mapping[str, Path]:
        """Folders of its cgroup by controller (version 1) and as `unified` (version 2), if any."""

    @abstractmethod
    def pids(self) -> list[int]:
        """List the processes that live in the domain now, by its own kernel's numbers."""

    def inside(self) -> Inside | None:
        """Return the way into its own kernel; None where this host's is the domain's too."""
        return None

    def place(self, placement: Placement) -> Placement:
        """Place the domain as asked and read it back; `UserError` if the two differ."""
        if placement.pus is not None:
            self.pin(placement.pus)
        if placement.nodes is not None:
            self.set_nodes(placement.nodes)
        if placement.weight is not None:
            self.set_weight(placement.weight)
        if placement.memory is not None:
            self.set_memory(placement.memory)
        if placement.disk_writes is not None or placement.disk_reads is not None:
            self.set_disk(placement.disk_writes, placement.disk_reads)
        return self.verify(placement)

    def verify(self, placement: Placement) -> Placement:
        """Read the placement back; `UserError` if it is not (or no longer) the one asked for."""
        found = self.read_back()
        difference = placement.difference(found)
        if difference is not None:
            raise UserError(
                f"{self.spec.name}: the placement read back is not the one asked for:"
                f" {difference}; choose a placement that this host grants."
            )
        return found


class Environment(ABC):
    """A way to make domains for one trial; everything it makes is in the trial's ledger."""

    name: ClassVar[str]
    machine: ClassVar[str] = HOST
    """Whose PUs and nodes its domains are placed on, as a source of hwloc's."""
    trial: str
    work: Path
    """A folder on this host for the trial's passing files, the domains' among them."""

    @classmethod
    @abstractmethod
    def probe(cls) -> Probe:
        """Say what this host allows; `UserError` if no domain at all can be made here."""

    @classmethod
    def planned_on(cls) -> str:
        """Whose PUs and nodes a mapping is for, before there is a trial: a source of hwloc's.

        `UserError` if that is a machine which has to be asked and does not answer.
        """
        return cls.machine

    @abstractmethod
    def create(self, spec: DomainSpec) -> Domain:
        """Make a domain (not started yet)."""

    def create_here(self, spec: DomainSpec) -> Domain:
        """Make a domain that this host sees into, for work before the trial."""
        return self.create(spec)

    @abstractmethod
    def create_neighbour(self, name: str, seats: Seats) -> Neighbour:
        """Make a neighbour of the system's, on the PUs that the system is on."""

    @property
    def addresses(self) -> Addresses:
        """Where servers and users are on the trial's network."""
        return LOOPBACK

    @property
    def slowness(self) -> float:
        """How many times as long servers may take as on this host's own CPUs."""
        return 1.0

    @property
    def accelerator(self) -> Accelerator | None:
        """What the servers' processors are; None where they are this host's own."""
        return None

    def accounts(self) -> Accounts | None:
        """Find the books of a hypervisor that knows more of its domains than this host's kernel."""
        return None

    @abstractmethod
    def spawn(self, argv: Sequence[str], *, log: Path) -> Process:
        """Start a program of the laboratory itself (an agent) on the trial's network.

        It keeps the caller's rights, belongs to no domain, and its standard output is a pipe
        (`Process.stdout`); its standard error goes to `log`.
        """

    @abstractmethod
    def connect(self, address: str, port: int, *, timeout: float) -> socket.socket:
        """Open a TCP connection on the trial's network."""

    @abstractmethod
    def listener(self, address: str, port: int) -> str | None:
        """Say who holds this port on the trial's network; None if it is free."""

    @abstractmethod
    def scratch(self, folder: Path) -> AbstractContextManager[Path]:
        """Make a folder on this host that is gone, with all in it, when the context ends."""

    @abstractmethod
    def destroy(self) -> None:
        """Remove every domain and all else that was made for the trial."""
