"""`[[disturb]]`: faults that Tierlab injects, so that the truth is known.

Each table has a `class`, and with it keys of its own. A file leaves open what it likes: `at` may
be drawn, and class `"random"` draws all of it. `tierlab.experiment.draw` makes of these tables
the disturbances of a trial, with nothing left open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tierlab.experiment.disturb_classes import ANYWHERE, CLASSES, KINDS, Stated
from tierlab.experiment.disturbance import Disturbance, Timed
from tierlab.experiment.problem import problem
from tierlab.experiment.subjects import Servers, entries, reachable
from tierlab.experiment.system import System
from tierlab.values.kinds import Duration, Selection
from tierlab.values.quantities import MILLISECOND, SECOND
from tierlab.values.texts import Lines


class Random(Timed):
    """Class, server, start, duration and intensity drawn from the trial's seed."""

    class_: Literal["random"] = Field(alias="class")
    classes: Annotated[tuple[str, ...], Selection(CLASSES)] = ANYWHERE
    """What is drawn from; without it, all but `steal`, which needs a hypervisor."""

    subjects: Annotated[tuple[str, ...] | Literal["all"], Servers()] = "all"
    """Servers that are drawn from, where the system has them and the class is felt."""

    tables: Annotated[tuple[str, ...] | None, Lines("tables of its database")] = Field(
        default=None, examples=[["stories"]]
    )
    """Of which class `lock` takes one; without it, those that matter most to the workload. Of your
    own application they have to be said, or none is locked."""

    shortest_ns: Annotated[int, Duration("20ms", "10s")] = Field(
        default=50 * MILLISECOND, alias="shortest"
    )
    """Least duration; between it and the longest, its logarithm is drawn evenly."""

    longest_ns: Annotated[int, Duration("20ms", "10s")] = Field(default=2 * SECOND, alias="longest")
    """Greatest duration."""

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        if self.shortest_ns > self.longest_ns:
            raise problem("must not be over longest", "shortest")
        if not self.classes:
            raise problem('leaves nothing to draw from; "all" is the default', "classes")
        return self

    def lockable(self, system: System) -> tuple[str, ...]:
        """The tables of which class `lock` takes one."""
        return self.tables or system.application.lockable

    def reaches(self, system: System) -> dict[str, list[str]]:
        """By class, the servers that may be drawn; only classes that have one."""
        reached = {
            kind: [
                name
                for name in suited(KINDS[kind], system)
                if (self.subjects == "all" or name in self.subjects)
                and KINDS[kind].felt(reachable(system)[name])
            ]
            for kind in self.classes
            if kind != "lock" or self.lockable(system)
        }
        return {kind: names for kind, names in reached.items() if names}


def suited(model: type[Disturbance], system: System) -> list[str]:
    """The servers of this system that a class can be done to."""
    there = reachable(system)
    asked = entries(system) if model.from_outside else there
    ports = {tier: port for tier, (_, port) in system.protocols.items()}
    return [
        name
        for name in asked
        if model.suits(there[name]) and (ports[name.partition(".")[0]] or not model.of_packets)
    ]


def stolen_from(tables: Sequence[Timed], system: System) -> set[str]:
    """The servers from which a hypervisor's neighbour steals, or may if that is drawn."""
    servers: set[str] = set()
    for table in tables:
        if isinstance(table, Random):
            reached = table.reaches(system).items()
            servers.update(*(names for kind, names in reached if KINDS[kind].by_hypervisor))
        elif isinstance(table, Disturbance) and table.by_hypervisor:
            servers.add(table.on)
    return servers


Written = Annotated[Stated | Random, Field(discriminator="class_")]
"""A table of the file."""
