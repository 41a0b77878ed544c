"""The plan of one trial: every value that it runs with."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tierlab.experiment.change import Change
from tierlab.experiment.draw import Drawn
from tierlab.experiment.load import Load
from tierlab.experiment.objective import Objective
from tierlab.experiment.observe import Observe
from tierlab.experiment.system import AnySystem
from tierlab.experiment.very_long import VERY_LONG, VeryLong
from tierlab.values.quantities import SECOND
from tierlab.values.section import Section


class TrialPlan(Section):
    """One run at one combination of the factors' levels."""

    experiment: str
    """The experiment's name; with `trial` the run folder's path."""

    trial: str
    """`"001"`, `"002"`, ... in the order in which the trials run."""

    question: str
    repetition: int
    """From 1."""

    seed: int
    """Of this trial: the experiment's seed + repetition - 1."""

    very_long: VeryLong = 2 * SECOND
    """From when on a request took very long: nanoseconds, or the valley of the response times."""

    levels: dict[str, Any] = Field(default_factory=dict)
    """This trial's level of every factor, as the file has it."""

    system: AnySystem
    load: Load
    observe: Observe
    objective: Objective

    change: tuple[Change, ...] = ()
    """What is changed while it runs, in order of time."""

    disturb: tuple[Drawn, ...] = ()
    """What is done to it and when, nothing left to be drawn; the truth, which no run folder has."""

    def as_file(self) -> dict[str, Any]:
        """The tables of an experiment file that runs this trial again, undisturbed."""
        about = {
            "name": self.experiment,
            "question": self.question,
            "seed": self.seed,
            "very_long": VERY_LONG.write(self.very_long),
        }
        parts = self.model_dump(
            mode="json",
            by_alias=True,
            exclude_none=True,
            include={"system", "load", "observe", "objective", "change"},
        )
        return {"experiment": about} | parts
