"""Disturbances of class `steal`: neighbours that a hypervisor runs on servers' PUs, at their times.

One neighbour serves all disturbances of a server. The disturbing agent has no part in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tierlab.deploy.neighbours import start_together
from tierlab.environments.neighbour import TimedNeighbour, Turn
from tierlab.environments.placement import Placement
from tierlab.experiment.disturb_resources import Steal
from tierlab.experiment.draw import Drawn
from tierlab.machine.mapping import Seats
from tierlab.trial.truth import Happened
from tierlab.values.quantities import format_duration

LEAST_SHARE = 0.5
"""Of its duration: one that was over sooner was late by more than that, and is not what was asked.
"""


class Hypervisor(Protocol):
    """What of an environment makes neighbours that compute at stated times."""

    @property
    def slowness(self) -> float:
        """How many times as long a neighbour may take as on this host's own CPUs."""

    def create_timed_neighbour(self, name: str, seats: Seats) -> TimedNeighbour:
        """Make one; `UserError` where that cannot be."""


@dataclass(frozen=True)
class _Thief:
    """A neighbour, and the disturbances that it does, in order of time."""

    neighbour: TimedNeighbour
    drawn: Sequence[Drawn]


class Stealing:
    """Those of one trial; `environment.destroy` removes the neighbours too."""

    def __init__(self, drawn: Sequence[Drawn], hypervisor: Hypervisor, others: int) -> None:
        """`others`: how many neighbours the system has, which are called by number too."""
        self._drawn = [each for each in drawn if isinstance(each.what, Steal)]
        self._hypervisor = hypervisor
        self._others = others
        self._here: list[_Thief] = []

    def prepare(self, found: Mapping[str, Placement]) -> None:
        """Make a neighbour beside each server that is asked for, at rest; `UserError` if one cannot
        be. `found` is how the servers are placed, PUs and all: a hypervisor tells them.
        """
        servers = dict.fromkeys(each.what.on for each in self._drawn)
        for number, name in enumerate(servers, start=self._others + 1):
            seats = Seats(tuple(sorted(found[name].pus or ())))
            made = self._hypervisor.create_timed_neighbour(f"neighbour.{number}", seats)
            self._here.append(_Thief(made, [each for each in self._drawn if each.what.on == name]))
        neighbours = [each.neighbour for each in self._here]
        start_together(neighbours, self._hypervisor.slowness)
        for neighbour in neighbours:
            neighbour.rest()

    def begin(self, runtime_ns: int) -> None:
        """Have them compute at their times; `runtime_ns` is when the runtime starts (UTC)."""
        for each in self._here:
            each.neighbour.take([_turn(drawn, runtime_ns) for drawn in each.drawn])

    def check(self) -> None:
        """Raise `UserError` where one has ended, or is not where it was put."""
        for each in self._here:
            each.neighbour.check()

    def happened(self) -> Iterator[Happened]:
        """Those that are over, as they came to pass."""
        for each in self._here:
            for drawn, turn in zip(each.drawn, each.neighbour.taken(), strict=False):
                yield _happened(drawn, turn)

    def stop(self) -> None:
        """Remove the neighbours; callable at any time."""
        while self._here:
            self._here.pop().neighbour.destroy()


def _turn(drawn: Drawn, runtime_ns: int) -> Turn:
    assert isinstance(drawn.what, Steal)
    return Turn(runtime_ns + drawn.at_ns, runtime_ns + drawn.end_ns, drawn.what.weight)


def _happened(drawn: Drawn, turn: Turn) -> Happened:
    what, lasted_ns = drawn.what, turn.end_ns - turn.start_ns
    short = lasted_ns < LEAST_SHARE * what.duration_ns
    return Happened.model_validate(
        {
            "id": drawn.id,
            "class": what.class_,
            "subject": what.on,
            "start_ns": turn.start_ns,
            "end_ns": turn.end_ns,
            "intensity": what.intensity,
            "done": not short,
            "error": f"it lasted {format_duration(lasted_ns)} only" if short else None,
        }
    )
