"""Neighbours: domains beside the system whose virtual CPUs are always busy."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tierlab import experiment
from tierlab.deploy.mapping import neighbour_seats
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.environment import Environment
from tierlab.environments.neighbour import Neighbour
from tierlab.environments.refusal import refuse
from tierlab.errors import UserError

START_SECONDS = 30.0
HEED_SECONDS = 2.0
"""Both as long as on this host's own CPUs."""
POLL_SECONDS = 0.001


class Neighbours:
    """Those of one trial; `environment.destroy` removes them too."""

    def __init__(self, shape: experiment.System, environment: Environment) -> None:
        self._seats = neighbour_seats(shape, environment.machine)
        self._environment = environment
        self._here: list[Neighbour] = []

    def start(self) -> None:
        """Make each, bind its virtual CPUs and let them compute; `UserError` if one cannot be."""
        for name, seats in self._seats.items():
            self._here.append(self._environment.create_neighbour(name, seats))
        start_together(self._here, self._environment.slowness)

    def occupy(self, vcpus: int) -> int:
        """Have the first so many virtual CPUs of each compute and the others rest; read back how
        many compute. `UserError` if they are not as many in each.
        """
        for neighbour in self._here:
            neighbour.occupy(vcpus)
        deadline = time.monotonic() + HEED_SECONDS * self._environment.slowness
        while (found := self._busy()) != {vcpus} and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        if found != {vcpus}:
            said = " and ".join(map(str, sorted(found)))
            raise UserError(f"neighbours: {vcpus} busy vCPUs asked of each, {said} found.")
        return vcpus

    def _busy(self) -> set[int]:
        """How many virtual CPUs compute, for each neighbour; one number where all are alike."""
        return {neighbour.busy() for neighbour in self._here}

    def check(self) -> None:
        """Raise `UserError` if one has ended, or is no longer placed as asked."""
        for neighbour in self._here:
            neighbour.check()

    def stop(self) -> None:
        """End them all; callable at any time."""
        while self._here:
            self._here.pop().destroy()


def start_together(neighbours: Sequence[Neighbour], slowness: float) -> None:
    """Make each, bind its virtual CPUs and let them compute; `UserError` if one cannot be."""
    for neighbour in neighbours:
        neighbour.boot()
    for neighbour in neighbours:
        neighbour.start()
    # Not before: they would be in each other's way.
    for neighbour in neighbours:
        neighbour.compute()
    deadline = time.monotonic() + START_SECONDS * slowness
    while not all(neighbour.ready() for neighbour in neighbours):
        if time.monotonic() > deadline:
            raise UserError("neighbours: they were not where they belong within their time.")
        time.sleep(POLL_SECONDS)


def check_neighbours(shape: experiment.System, probe: Probe) -> None:
    """Raise `UserError` if this host cannot hold neighbours to their place."""
    if not shape.neighbours.count:
        return
    neighbour_seats(shape, probe.machine)
    for wanted in (Capability.NEIGHBOURS, Capability.PIN, Capability.WEIGHT):
        if wanted in probe.cannot:
            raise refuse("system.neighbours", probe.environment, wanted, probe.cannot[wanted])
