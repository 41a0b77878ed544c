"""An experiment file as it is written: its tables, and what they say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from tierlab.experiment.change import Change, change_problems
from tierlab.experiment.disturb import Written, stolen_from
from tierlab.experiment.disturbance import Timed
from tierlab.experiment.draw import disturbance_problems
from tierlab.experiment.factors import Factors
from tierlab.experiment.load import (
    Load,
    Phases,
    mix_problems,
    speed_problems,
    think_problems,
    users_problems,
)
from tierlab.experiment.objective import Objective
from tierlab.experiment.observe import Observe
from tierlab.experiment.problem import problem, raise_all
from tierlab.experiment.system import AnySystem, System
from tierlab.experiment.very_long import VeryLong
from tierlab.values.kinds import Real, Text, Whole
from tierlab.values.quantities import SECOND
from tierlab.values.section import Section


class About(Section):
    """What is asked, under which name."""

    name: Annotated[
        str,
        Text(
            'up to 64 letters, digits, ".", "_" and "-", the first a letter or a digit',
            r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
        ),
    ]
    """The experiment's name; its runs land in runs/<name>/."""

    question: Annotated[str, Text("a text of at most 500 characters", r"[\s\S]{0,500}")] = ""
    """The question in words, for the report."""

    seed: Annotated[int, Whole(0, 2**32 - 1)] = 1
    """Everything drawn at random is drawn from it: same seed, same requests."""

    dollars_per_month: Annotated[float | None, Real(0.01, 1e9)] = Field(
        default=None, examples=[350.0]
    )
    """What the machine under test costs; a search for the knee says what a user costs then."""

    very_long: VeryLong = 2 * SECOND
    """From when on a request took very long. "valley": from the first valley of the trial's
    response times, where there is one between 0.3 s and 2 s that is ten times their main mode."""


class ExperimentFile(Section):
    """An experiment file as it is written."""

    experiment: About
    system: AnySystem
    load: Load
    observe: Observe = Field(default_factory=Observe)
    disturb: list[Written] = Field(default_factory=list)
    change: list[Change] = Field(default_factory=list)
    factors: Factors = Field(default_factory=Factors)
    objective: Objective = Field(default_factory=Objective)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        raise_all(
            [
                *mix_problems(self.load, self.system.application),
                *speed_problems(self.load, self.system.application),
                *think_problems(self.load, self.system.application),
                *users_problems(self.load, self.system.application, self.system.scale),
                *event_problems(self.disturb, self.change, self.system, self.load.phases),
            ]
        )
        return self


def event_problems(
    disturb: Sequence[Timed], change: Sequence[Change], system: System, phases: Phases
) -> Iterator[PydanticCustomError]:
    """The problems of disturbances and changes that this system or its runtime cannot have."""
    yield from change_problems(change, system, phases)
    yield from disturbance_problems(disturb, system, phases)
    yield from _left_behind(disturb, change, system)


def _left_behind(
    disturb: Sequence[Timed], change: Sequence[Change], system: System
) -> Iterator[PydanticCustomError]:
    """The problems of changes that move a server away from who is to steal from it."""
    servers = stolen_from(disturb, system)
    for number, each in enumerate(change, start=1):
        for key in ("pus", "place", "host"):
            if each.on in servers and getattr(each, key) is not None:
                words = f"moves {each.on} away from the neighbour that steals from it"
                yield problem(f"{words}; leave one of both out", f"change[{number}]", key)
