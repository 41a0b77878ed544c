"""An experiment: a question with factors and levels, and the trials that answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from tierlab.errors import UserError
from tierlab.experiment.document import About, ExperimentFile
from tierlab.experiment.draw import NoRoomError, draw
from tierlab.experiment.factors import Factors, with_levels
from tierlab.experiment.fitting import fitted
from tierlab.experiment.load import Load
from tierlab.experiment.mistakes import Levels, causes, checked_factors
from tierlab.experiment.objective import Objective
from tierlab.experiment.plan import SystemPlan, TrialPlan
from tierlab.experiment.problem import Mistake, told
from tierlab.experiment.several import Named, checked_each
from tierlab.experiment.system import System

MOST_TRIALS = 100_000


@dataclass(frozen=True)
class Experiment:
    """A valid experiment. `source` names the file in error sentences."""

    source: str
    about: About
    factors: Factors
    objective: Objective
    _trials: tuple[TrialPlan, ...]

    @classmethod
    def from_tables(cls, document: Mapping[str, Any], source: str = "experiment") -> Self:
        """From the file's tables; UserError that names all that is wrong in it."""
        factors, wrong = checked_factors(document)
        if factors.trials > MOST_TRIALS:
            raise UserError(
                f"{source}: factors make {factors.trials} trials; at most {MOST_TRIALS} are run."
            )
        crossed = factors.crossed()
        rest = {name: table for name, table in document.items() if name != "factors"}
        found: dict[Mistake, list[Levels]] = {mistake: [] for mistake in wrong}
        combinations = []
        for levels in crossed:
            files, wrong = checked_each(with_levels(rest, levels), Path(source).parent)
            for mistake in wrong:
                found.setdefault(mistake, []).append(levels)
            combinations.append((levels, files))
        if found:
            raise told(source, causes(found, crossed))
        (_, first), *_ = combinations[0][1]
        about, objective = first.experiment, first.objective
        width = max(3, len(str(factors.trials)))
        trials = tuple(
            _plan(source, f"{number:0{width}}", repetition, levels, files)
            for number, (repetition, (levels, files)) in enumerate(
                factors.blocks(combinations, about.seed), start=1
            )
        )
        for trial in trials:
            if objective.rules and not any(_has_rules(each) for each in trial.systems):
                raise UserError(
                    f"{source}: objective.rules needs a workload whose benchmark has rules, and"
                    f" {trial.system.workload} has none; remove it."
                )
        return cls(source, about, factors, objective, trials)

    def alone(self, plan: TrialPlan) -> Self:
        """The experiment with this trial and no other."""
        return replace(self, _trials=(plan,))

    def with_trials(self, plans: tuple[TrialPlan, ...]) -> Self:
        """The experiment with these plans of its trials."""
        return replace(self, _trials=plans)

    def trials(self) -> tuple[TrialPlan, ...]:
        """The trials in the order in which they run."""
        return self._trials


def _plan(
    source: str, trial: str, repetition: int, levels: dict[str, Any], files: tuple[Named, ...]
) -> TrialPlan:
    """One run of a combination that was checked; UserError if what it draws finds no room."""
    (name, file), *_ = files
    about = file.experiment
    seed = about.seed + repetition - 1
    try:
        drawn = draw(file.disturb, file.system, file.load.phases, seed)
    except NoRoomError as error:
        raise UserError(f"{source}: {error}.") from None
    return TrialPlan.model_construct(
        experiment=about.name,
        trial=trial,
        question=about.question,
        very_long=about.very_long,
        repetition=repetition,
        seed=seed,
        levels=levels,
        system=fitted(_seeded(file), drawn),
        load=_with_mix(file),
        observe=file.observe,
        objective=file.objective,
        several=tuple(map(_system, files)) if name else (),
        disturb=drawn,
        change=tuple(sorted(file.change, key=lambda change: change.at_ns)),
    )


def _has_rules(asked: SystemPlan) -> bool:
    """Whether a run of the system can pass by rules of its benchmark, or not."""
    return asked.system.application.rules(asked.load.mix or "") is not None


def _system(named: Named) -> SystemPlan:
    """One of several systems, undisturbed."""
    name, file = named
    return SystemPlan.model_construct(name=name, system=_seeded(file), load=_with_mix(file))


def _seeded(file: ExperimentFile) -> System:
    """The system with its data's seed written down, so that a plan says all that it runs with."""
    if file.system.data_seed is not None:
        return file.system
    return file.system.model_copy(update={"data_seed": file.experiment.seed})


def _with_mix(file: ExperimentFile) -> Load:
    """The load with the mix written down that its users have."""
    usual = file.system.application.usual_mix
    return file.load if file.load.mix else file.load.model_copy(update={"mix": usual})
