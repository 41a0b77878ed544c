"""The interface of every environment: a way to make domains on a host."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, Literal

from tierlab.environments.accounts import Accounts
from tierlab.environments.addresses import LOOPBACK, Addresses
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.neighbour import Neighbour, TimedNeighbour
from tierlab.environments.process import Process
from tierlab.environments.refusal import refuse
from tierlab.errors import UserError
from tierlab.machine.hwloc import HOST
from tierlab.machine.mapping import Seats

Accelerator = Literal["kvm", "tcg"]
"""What runs a virtual machine's processors: this host's own, or QEMU, which emulates them."""


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

    @abstractmethod
    def create_timed_neighbour(self, name: str, seats: Seats) -> TimedNeighbour:
        """Make one that computes at stated times; `UserError` where no hypervisor takes CPU time
        from servers then, as `probe` says.
        """

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

    def simulate_caches(self, machine: str) -> None:  # noqa: ARG002 - refused
        """Simulate the caches of a machine, a source of hwloc's, for domains made from now on.

        `UserError` where that cannot be.
        """
        raise self.no_caches("its servers' processors are not emulated")

    def no_caches(self, reason: str) -> UserError:
        """Word why caches cannot be simulated."""
        wanted = Capability.SIMULATED_CACHES
        return refuse("observe.simulated_caches", self.name, wanted, reason)

    @abstractmethod
    def spawn(self, argv: Sequence[str], *, log: Path) -> Process:
        """Start a program of the laboratory itself (an agent) on the trial's network.

        It keeps the caller's rights, belongs to no domain, and its standard output is a pipe
        (`Process.stdout`); its standard error goes to `log`.
        """

    @property
    def has_own_network(self) -> bool:
        """Whether nobody but the trial is on the network that its servers are on."""
        return True

    def refuse_calls_out(self) -> None:
        """Have calls to outside of the trial's network refused on it, where they can be seen.

        Without that they get no further than the kernel; where they lead on, nothing is done.
        """
        return

    @abstractmethod
    def connect(self, address: str, port: int, *, timeout: float) -> socket.socket:
        """Open a TCP connection on the trial's network."""

    @abstractmethod
    def listener(self, address: str, port: int) -> str | None:
        """Say who holds this port on the trial's network; None if it is free.

        `UserError` if nobody could listen there.
        """

    @abstractmethod
    def scratch(self, folder: Path) -> AbstractContextManager[Path]:
        """Make a folder on this host that is gone, with all in it, when the context ends."""

    @abstractmethod
    def destroy(self) -> None:
        """Remove every domain and all else that was made for the trial."""
