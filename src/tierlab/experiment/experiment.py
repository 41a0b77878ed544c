"""An experiment: a question with factors and levels, and the trials that answer it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from tierlab.errors import UserError
from tierlab.experiment.change import Change, check_changes
from tierlab.experiment.disturb import KINDS, Random, Timed, Written
from tierlab.experiment.draw import NoRoomError, check_disturbances, draw
from tierlab.experiment.factors import CROSSABLE, Factors, with_levels
from tierlab.experiment.fitting import fitted
from tierlab.experiment.keys import tables
from tierlab.experiment.kinds import Text, Whole
from tierlab.experiment.load import Load
from tierlab.experiment.objective import Objective
from tierlab.experiment.observe import Observe
from tierlab.experiment.plan import TrialPlan
from tierlab.experiment.problem import closest, dotted, sentence, shown
from tierlab.experiment.section import Section
from tierlab.experiment.system import System

MOST_TRIALS = 100_000


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


class ExperimentFile(Section):
    """An experiment file as it is written."""

    experiment: About
    system: System
    load: Load
    observe: Observe = Field(default_factory=Observe)
    disturb: list[Written] = Field(default_factory=list)
    change: list[Change] = Field(default_factory=list)
    factors: Factors = Field(default_factory=Factors)
    objective: Objective = Field(default_factory=Objective)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_changes(self.change, self.system, self.load.phases)
        check_disturbances(self.disturb, self.system, self.load.phases)
        return self


TABLES = {table.path: table for table in tables(ExperimentFile)}
"""Every table of the file by its path."""

DISTURBANCES = {kind: next(tables(model, "disturb", kind)) for kind, model in KINDS.items()} | {
    "random": next(tables(Random, "disturb", "random"))
}
"""The tables that the array `disturb` may hold, by class."""

CHANGE = next(tables(Change, "change"))
"""The table that the array `change` holds."""

COMMON = {key.path[-1]: key for key in next(tables(Timed, "disturb")).keys}
"""The keys that all of them have."""


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
        """From the file's tables; UserError with one sentence when anything in it is wrong."""
        factors = _factors(document, source)
        combinations = [
            (levels, _checked(with_levels(document, levels), levels, source))
            for levels in factors.crossed()
        ]
        about, objective = combinations[0][1].experiment, combinations[0][1].objective
        width = max(3, len(str(factors.trials)))
        trials = tuple(
            _plan(source, f"{number:0{width}}", repetition, levels, file)
            for number, (repetition, (levels, file)) in enumerate(
                factors.blocks(combinations, about.seed), start=1
            )
        )
        return cls(source, about, factors, objective, trials)

    def trials(self) -> tuple[TrialPlan, ...]:
        """The trials in the order in which they run."""
        return self._trials


def _plan(
    source: str, trial: str, repetition: int, levels: dict[str, Any], file: ExperimentFile
) -> TrialPlan:
    """One run of a combination that was checked; UserError if what it draws finds no room."""
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
        repetition=repetition,
        seed=seed,
        levels=levels,
        system=fitted(_seeded(file), drawn),
        load=file.load,
        observe=file.observe,
        objective=file.objective,
        disturb=drawn,
        change=tuple(sorted(file.change, key=lambda change: change.at_ns)),
    )


def _seeded(file: ExperimentFile) -> System:
    """The system with its data's seed written down, so that a plan says all that it runs with."""
    if file.system.data_seed is not None:
        return file.system
    return file.system.model_copy(update={"data_seed": file.experiment.seed})


def _factors(document: Mapping[str, Any], source: str) -> Factors:
    """The factors, each a key that can be crossed, and not too many combinations."""
    try:
        factors = Factors.model_validate(document.get("factors", {}))
    except ValidationError as error:
        raise sentence(source, error, _KEYS, "factors") from None
    known = tuple(_crossable())
    for key in factors.levels:
        if key not in known:
            raise UserError(
                f"{source}: factors.{shown(key)} is not a key that can be crossed"
                f"{closest(key, known)}; a factor is a dotted key of {', '.join(CROSSABLE)}, "
                'such as "load.users" or "system.app.soft.threads".'
            )
    if factors.trials > MOST_TRIALS:
        raise UserError(
            f"{source}: factors make {factors.trials} trials; at most {MOST_TRIALS} are run."
        )
    return factors


def _crossable() -> Iterator[str]:
    """Dotted keys of single values and of whole tables below `system`, `load` and `observe`."""
    for table in TABLES.values():
        if table.path and table.path[0] in CROSSABLE:
            yield from (".".join(key.path) for key in table.keys)
            yield from (".".join((*table.path, name)) for name in table.tables)


def _checked(document: dict[str, Any], levels: Mapping[str, Any], source: str) -> ExperimentFile:
    """A combination of levels as an experiment of its own."""
    try:
        return ExperimentFile.model_validate(document)
    except ValidationError as error:
        if not levels:
            raise sentence(source, error, _KEYS) from None
        combination = ", ".join(f"{dotted(k.split('.'))} = {shown(v)}" for k, v in levels.items())
        raise sentence(f"{source} with {combination}", error, _KEYS) from None


_KEYS = {
    table.path: table.names for table in (*TABLES.values(), *DISTURBANCES.values(), CHANGE)
} | {("disturb", "class"): tuple(DISTURBANCES)}
