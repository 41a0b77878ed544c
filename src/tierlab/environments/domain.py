"""The interface of every domain, a unit of isolation on a host, and what one is made from."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tierlab.environments.image_root import ImageRoot
from tierlab.environments.placement import Placement
from tierlab.environments.process import Process
from tierlab.errors import UserError


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
    standing: tuple[str, int] | None = None
    """Address and port at which what is in it listens already, started by somebody else."""
    standing_socket: str | None = None
    """The UNIX socket at which it does, instead or besides."""
    moves: bool = False
    """Whether it is to move to another host while it runs."""
    root: ImageRoot | None = None
    """The image that its programs come in; None where they are this host's, or the guest's."""
    hosts: tuple[tuple[str, str], ...] = ()
    """Names of others in its trial, each with an address, where its root is an image's."""


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

    def connect_unix(self, path: str, *, timeout: float) -> socket.socket:  # noqa: ARG002 - refused
        """Open a connection to a UNIX socket that is bound in the domain.

        `path`: as it is bound there; "@" and a name in the abstract space.
        """
        raise UserError(f"{self.spec.name}: {path} is a socket of another kernel's.")

    def unseen(self) -> str | None:
        """Why its server's processes are not among them; None where they are."""
        return None

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
