"""A neighbour on this host's own PUs: a virtual CPU is to its host a thread that runs on the PUs it
was given, and here it is one process.

One that rests is stopped by a signal, as a virtual CPU on which nothing runs is blocked.
"""

from __future__ import annotations

import os
from signal import SIGCONT, SIGKILL, SIGSTOP

from tierlab.environments.domain import Domain
from tierlab.environments.identity import stat
from tierlab.environments.neighbour import Neighbour
from tierlab.environments.process import Process
from tierlab.errors import UserError
from tierlab.machine.mapping import Seats

LOOP = "while :; do :; done"
STOPPED = "T"


class BareNeighbour(Neighbour):
    """A domain with a process for each virtual CPU, bound to its PU by taskset(1)."""

    def __init__(self, domain: Domain, seats: Seats) -> None:
        self.name = domain.spec.name
        self._domain = domain
        self._seats = seats
        self._processes: list[Process] = []

    def boot(self) -> None:
        """Nothing takes long."""
        return

    def start(self) -> None:
        """Make the domain."""
        self._domain.start()

    def compute(self) -> None:
        """Start the processes."""
        for pu in self._seats.vcpus:
            argv = ["taskset", "--cpu-list", str(pu), "sh", "-c", LOOP]
            self._processes.append(self._domain.spawn(argv, log="busy.log"))

    def ready(self) -> bool:
        """Whether each is on its PU, by the kernel's word."""
        found = zip(self._processes, self._seats.vcpus, strict=True)
        try:
            return all(os.sched_getaffinity(process.pid) == {pu} for process, pu in found)
        except ProcessLookupError:
            return False

    def occupy(self, vcpus: int) -> None:
        """Stop processes, and continue others."""
        for number, process in enumerate(self._processes):
            process.signal(SIGCONT if number < vcpus else SIGSTOP)

    def busy(self) -> int:
        """By the state of each process: a signal is heeded when it runs next."""
        states = (stat(process.pid) for process in self._processes)
        return sum(found is not None and found.state != STOPPED for found in states)

    def check(self) -> None:
        """Look at domain and processes."""
        self._domain.verify(self._domain.spec.placement)
        if any(process.poll() is not None for process in self._processes):
            raise UserError(f"{self.name} ended before the trial did.")
        if not self.ready():
            raise UserError(
                f"{self.name}: its processes were bound to other PUs; leave them alone."
            )

    def destroy(self) -> None:
        """At once: the processes hold nothing."""
        for process in self._processes:
            process.stop(0.0, SIGKILL)
        self._domain.destroy()
