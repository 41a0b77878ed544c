"""`[[disturb]]`: faults that Tierlab injects, so that the truth is known.

Each table has a `class`, and with it keys of its own. A file leaves open what it likes: `at` may
be drawn, and class `"random"` draws all of it. `tierlab.experiment.draw` makes of these tables
the disturbances of a trial, with nothing left open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tierlab.experiment.disturb_classes import CLASSES, KINDS, Stated
from tierlab.experiment.disturbance import Timed
from tierlab.experiment.problem import problem, raise_all
from tierlab.experiment.subjects import ANYONE, ENTRIES
from tierlab.servers.base import Server
from tierlab.values.kinds import Duration, Selection
from tierlab.values.quantities import MILLISECOND, SECOND


class Random(Timed):
    """Class, server, start, duration and intensity drawn from the trial's seed."""

    class_: Literal["random"] = Field(alias="class")
    classes: Annotated[tuple[str, ...], Selection(CLASSES)] = CLASSES
    """What is drawn from."""

    subjects: Annotated[tuple[str, ...], Selection(ANYONE)] = ANYONE
    """Servers that are drawn from, where the system has them and the class is felt."""

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
        raise_all(
            problem('leaves nothing to draw from; "all" is the default', name)
            for name in ("classes", "subjects")
            if not getattr(self, name)
        )
        return self

    def reaches(self, there: Mapping[str, type[Server]]) -> dict[str, list[str]]:
        """By class, the servers among `there` that may be drawn; only classes that have one."""
        reached = {
            kind: [
                name
                for name in there
                if name in self.subjects and drawable(kind, name, there[name])
            ]
            for kind in self.classes
        }
        return {kind: names for kind, names in reached.items() if names}


def drawable(kind: str, name: str, software: type[Server]) -> bool:
    """Whether a class may be drawn on a server of such software."""
    model = KINDS[kind]
    return model.felt(software) and (not model.from_outside or name in ENTRIES)


Written = Annotated[Stated | Random, Field(discriminator="class_")]
"""A table of the file."""
