"""All systems of a trial, on one machine and in one environment; often there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tierlab.deploy.layout import Place
from tierlab.deploy.system import Progress, Subject, System
from tierlab.environments.domain import Domain, Move
from tierlab.environments.environment import Accelerator
from tierlab.environments.placement import Placement
from tierlab.errors import UserError
from tierlab.topology import Topology


class Systems:
    """Systems whose servers have names, addresses and domains of their own."""

    def __init__(self, systems: Sequence[System]) -> None:
        """`systems`: at least one."""
        self._systems = tuple(systems)

    def __getitem__(self, name: str) -> System:
        """The system of that name."""
        return next(each for each in self._systems if each.name == name)

    @property
    def machine(self) -> str:
        """Whose PUs and nodes their servers are placed on, as a source of hwloc's."""
        return self._systems[0].machine

    @property
    def accelerator(self) -> Accelerator | None:
        """What their servers' processors are; None where they are this host's own."""
        return self._systems[0].accelerator

    @property
    def emulated_pus(self) -> int | None:
        """How many PUs that machine has; None if it is this host."""
        return self._systems[0].emulated_pus

    @property
    def places(self) -> list[Place]:
        """Where their instances listen, or will, system by system."""
        return [place for system in self._systems for place in system.places]

    @property
    def topology(self) -> Topology:
        """Who calls whom: one graph, with the entries of each system."""
        return Topology.of([system.topology for system in self._systems])

    def start(self, progress: Progress) -> None:
        """Bring them up, one after the other; `UserError` if a server does not come.

        Whatever happens, `stop` takes down what came up.
        """
        for system in self._systems:
            system.start(progress)

    def check(self) -> None:
        """Raise `UserError` if a server has ended, or a placement is no longer as asked."""
        for system in self._systems:
            system.check()

    def change(self, subject: str, asked: Placement, soft: Mapping[str, int]) -> Placement:
        """Place a running server anew and resize its soft resources; return what was read back."""
        return self._of(subject).change(subject, asked, soft)

    def move(self, subject: str, host: str) -> Move:
        """Move a running server to another host."""
        return self._of(subject).move(subject, host)

    def domain(self, subject: str) -> Domain:
        """The domain that a server is in."""
        return self._of(subject).domain(subject)

    def subjects(self) -> list[Subject]:
        """The running instances, system by system."""
        return [subject for system in self._systems for subject in system.subjects()]

    def stop(self) -> None:
        """Take them all down and keep their logs; callable at any time."""
        problems = []
        for system in reversed(self._systems):
            try:
                system.stop()
            except UserError as error:
                problems.append(str(error))
        if problems:
            raise UserError(" ".join(problems))

    def _of(self, subject: str) -> System:
        return next(
            system
            for system in self._systems
            if any(place.name == subject for place in system.places)
        )
