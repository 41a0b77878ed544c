"""Neighbours: domains beside the system whose virtual CPUs are always busy.

A virtual CPU is to its host a thread that runs on the PUs it was given, and here it is one process.
One that rests is stopped by a signal, as a virtual CPU on which nothing runs is blocked.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from signal import SIGCONT, SIGKILL, SIGSTOP

from tierlab import experiment
from tierlab.environments.base import (
    Capability,
    Domain,
    DomainSpec,
    Environment,
    Placement,
    Probe,
)
from tierlab.environments.process import Process, stat
from tierlab.environments.refusal import refuse
from tierlab.errors import UserError
from tierlab.machine.hwloc import HOST
from tierlab.machine.mapping import Seats
from tierlab.servers.mapping import neighbour_seats

START_SECONDS = 30.0
HEED_SECONDS = 2.0
POLL_SECONDS = 0.001
LOOP = "while :; do :; done"
STOPPED = "T"


@dataclass(frozen=True)
class _Neighbour:
    domain: Domain
    seats: Seats
    vcpus: tuple[Process, ...]


class Neighbours:
    """Those of one trial; `environment.destroy` removes them too."""

    def __init__(self, shape: experiment.System, environment: Environment) -> None:
        self._seats = neighbour_seats(shape)
        self._environment = environment
        self._here: list[_Neighbour] = []

    def start(self) -> None:
        """Make each, bind its virtual CPUs and let them compute; `UserError` if one cannot be."""
        for name, seats in self._seats.items():
            placement = Placement(pus=seats.pus, weight=seats.weight)
            domain = self._environment.create_here(DomainSpec(name, placement))
            domain.start()
            self._here.append(_Neighbour(domain, seats, tuple(_compute(domain, seats))))
        deadline = time.monotonic() + START_SECONDS
        while not all(map(_is_bound, self._here)):
            if time.monotonic() > deadline:
                raise UserError("neighbours: they were not where they belong within their time.")
            time.sleep(POLL_SECONDS)

    def occupy(self, vcpus: int) -> int:
        """Have the first so many virtual CPUs of each compute and the others rest; read back how
        many compute. `UserError` if they are not as many in each.
        """
        for neighbour in self._here:
            for number, process in enumerate(neighbour.vcpus):
                process.signal(SIGCONT if number < vcpus else SIGSTOP)
        # A signal is heeded when its process runs next.
        deadline = time.monotonic() + HEED_SECONDS
        while (found := self._busy()) != {vcpus} and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        if found != {vcpus}:
            said = " and ".join(map(str, sorted(found)))
            raise UserError(f"neighbours: {vcpus} busy vCPUs asked of each, {said} found.")
        return vcpus

    def _busy(self) -> set[int]:
        """How many virtual CPUs compute, for each neighbour; one number where all are alike."""
        return {sum(_computes(each) for each in neighbour.vcpus) for neighbour in self._here}

    def check(self) -> None:
        """Raise `UserError` if one has ended, or is no longer placed as asked."""
        for neighbour in self._here:
            name = neighbour.domain.spec.name
            neighbour.domain.verify(neighbour.domain.spec.placement)
            if any(process.poll() is not None for process in neighbour.vcpus):
                raise UserError(f"{name} ended before the trial did.")
            if not _is_bound(neighbour):
                raise UserError(f"{name}: its processes were bound to other PUs; leave them alone.")

    def stop(self) -> None:
        """End them all; callable at any time."""
        while self._here:
            neighbour = self._here.pop()
            for process in neighbour.vcpus:
                process.stop(0.0, SIGKILL)
            neighbour.domain.destroy()


def _compute(domain: Domain, seats: Seats) -> list[Process]:
    """A process for each virtual CPU, bound to its PU by taskset(1)."""
    bound = (["taskset", "--cpu-list", str(pu), "sh", "-c", LOOP] for pu in seats.vcpus)
    return [domain.spawn(argv, log="busy.log") for argv in bound]


def _is_bound(neighbour: _Neighbour) -> bool:
    """Whether each virtual CPU is on its PU, by the kernel's word."""
    found = zip(neighbour.vcpus, neighbour.seats.vcpus, strict=True)
    try:
        return all(os.sched_getaffinity(process.pid) == {pu} for process, pu in found)
    except ProcessLookupError:
        return False


def _computes(process: Process) -> bool:
    found = stat(process.pid)
    return found is not None and found.state != STOPPED


def check_neighbours(shape: experiment.System, probe: Probe) -> None:
    """Raise `UserError` if this host cannot hold neighbours to their place."""
    if not shape.neighbours.count:
        return
    if probe.machine != HOST:
        raise UserError(
            f"system.neighbours: they compute on this machine's own PUs, and the servers of the"
            f" {probe.environment} environment run on others; use another environment."
        )
    neighbour_seats(shape)
    for wanted in (Capability.PIN, Capability.WEIGHT):
        if wanted in probe.cannot:
            raise refuse("system.neighbours", probe.environment, wanted, probe.cannot[wanted])
