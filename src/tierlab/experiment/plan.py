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


class SystemPlan(Section):
    """A system and its users. The name is empty where it is the only one."""

    name: str
    system: AnySystem
    load: Load


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
    """Of several, the first; its environment, and the phases of its load, are those of all."""

    load: Load
    several: tuple[SystemPlan, ...] = ()
    """All systems, the first one too, where there are several."""

    observe: Observe
    objective: Objective

    change: tuple[Change, ...] = ()
    """What is changed while it runs, in order of time."""

    found: frozenset[tuple[str, str, str]] = frozenset()
    """Calls that no file says and that were seen before: the system's name, caller and callee."""

    disturb: tuple[Drawn, ...] = ()
    """What is done to it and when, nothing left to be drawn; the truth, which no run folder has."""

    @property
    def systems(self) -> tuple[SystemPlan, ...]:
        """All systems, one or several."""
        only = SystemPlan.model_construct(name="", system=self.system, load=self.load)
        return self.several or (only,)

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
        if self.several:
            parts |= {"system": list(map(_table, self.several))}
            parts["load"] = {"phases": parts["load"]["phases"]}
        return {"experiment": about} | parts


def _table(plan: SystemPlan) -> dict[str, Any]:
    """One table of `[[system]]`."""
    written = plan.model_dump(mode="json", by_alias=True, exclude_none=True)
    load = {key: value for key, value in written["load"].items() if key != "phases"}
    # What would be refused beside others is not there, and so at its default.
    system = {key: value for key, value in written["system"].items() if key != "neighbours"}
    return {"name": plan.name} | system | {"load": load}
