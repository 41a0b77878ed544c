"""All that is wrong in an experiment file, found at once.

Validation does not come to what two tables say together while one of them is wrong; these checks
are made apart then, as far as the rest is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from tierlab.experiment.by_name import COUNT, EXAMPLE, key_alone, names
from tierlab.experiment.change import Change
from tierlab.experiment.disturb import Written
from tierlab.experiment.document import ExperimentFile, event_problems
from tierlab.experiment.factors import CROSSABLE, Factors, stated_levels
from tierlab.experiment.load import Phases, two_loops
from tierlab.experiment.problem import (
    Mistake,
    closest,
    dotted,
    mistakes,
    raise_all,
    shown,
)
from tierlab.experiment.shape import FOLDER, shape_problems
from tierlab.experiment.system import AnySystem

Levels = Mapping[str, Any]
"""One level of each factor, by its dotted key."""

Made = TypeVar("Made")


def checked_factors(document: Mapping[str, Any]) -> tuple[Factors, list[Mistake]]:
    """The factors, each a key that can be crossed, and what is wrong with them.

    Where something is, the factors are those that are right, with the first level of each.
    """
    table = document.get("factors", {})
    factors, found = _made(lambda: Factors.model_validate(table), "factors")
    table = table if isinstance(table, dict) else {}
    own = {key: table[key] for key in ("repeat", "order") if key in table}
    if factors is None:
        found += [each for each in _own(own) if each not in found]
    stated, _ = stated_levels({key: table[key] for key in table if key not in own})
    alone = {key: key_alone(document, key) for key in stated}
    known = tuple(_crossable(document)) if stated else ()
    found += [_uncrossable(key, alone[key], known) for key in stated if alone[key] not in known]
    if factors is None or found:
        first = {key: levels[:1] for key, levels in stated.items() if alone[key] in known}
        return Factors.model_construct(levels=first), found
    return factors, found


def checked(
    document: Mapping[str, Any], folder: Path = Path()
) -> tuple[ExperimentFile | None, list[Mistake]]:
    """The file with one level of each factor in its tables, and what is wrong with it.

    `folder` is the one that other files it names are beside.
    """
    context = {FOLDER: folder}
    file, found = _made(
        lambda: ExperimentFile.model_validate(document, context=context), of=document
    )
    if file is None:
        found += [each for each in _apart(document) if each not in found]
    return file, found


def causes(
    found: Mapping[Mistake, Sequence[Levels]], combinations: Sequence[Levels]
) -> dict[Mistake, str]:
    """Each mistake with the levels that all combinations with it have in common, in words.

    A mistake of all of several combinations is none of their levels' doing.
    """
    return {
        mistake: "" if len(levels) == len(combinations) > 1 else _in_words(_common(levels))
        for mistake, levels in found.items()
    }


def _made(
    make: Callable[[], Made], *above: str, of: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Made | None, list[Mistake]]:
    """What is made; else what is wrong in the document that it is made of."""
    try:
        return make(), []
    except ValidationError as error:
        from tierlab.experiment.catalogue import keys_of  # long to make: only for a mistake

        return None, mistakes(error, keys_of(of), *above)


def _own(table: Mapping[str, Any]) -> list[Mistake]:
    """What is wrong with repetitions and order, while levels are."""
    return _made(lambda: Factors.model_validate(table), "factors")[1]


class _Phased(BaseModel):
    """What of `[load]` the disturbances and changes depend on."""

    model_config = ConfigDict(extra="ignore")
    phases: Phases = Field(default_factory=Phases)


class _Events(BaseModel):
    """What disturbances and changes depend on."""

    model_config = ConfigDict(extra="ignore")
    system: AnySystem
    load: _Phased = Field(default_factory=_Phased)
    disturb: list[Written] = Field(default_factory=list)
    change: list[Change] = Field(default_factory=list)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        raise_all(event_problems(self.disturb, self.change, self.system, self.load.phases))
        return self


def _apart(document: Mapping[str, Any]) -> Iterator[Mistake]:
    """What several keys say together, while others are wrong."""
    load = document.get("load")
    if isinstance(load, dict):
        yield from _said(two_loops(load), "load")
        if isinstance(shape := load.get("shape"), dict):
            yield from _said(shape_problems(shape), "load", "shape")
    _, found = _made(lambda: _Events.model_validate(document), of=document)
    yield from found


def _said(problems: Iterable[PydanticCustomError], *table: str) -> Iterator[Mistake]:
    for each in problems:
        context = each.context or {}
        yield Mistake((*table, *context["at"]), context["text"])


def _uncrossable(key: str, alone: str | None, known: Iterable[str]) -> Mistake:
    """`alone`: what the key is called where its system is the only one."""
    if alone is None:
        return Mistake(("factors", key), f'must say of which system, as in "{EXAMPLE}"')
    return Mistake(
        ("factors", key),
        f"is not a key that can be crossed{closest(key, known)}; a factor is a dotted key of"
        f' {", ".join(CROSSABLE)}, such as "load.users" or "system.app.soft.threads"',
    )


def _crossable(document: Mapping[str, Any]) -> Iterator[str]:
    """Dotted keys of single values and of whole tables below `system`, `load` and `observe`."""
    from tierlab.experiment.catalogue import keys_of  # long to make: only where there are factors

    for path, keys in keys_of(document).items():
        if path and path[0] in CROSSABLE:
            yield from (".".join((*path, key)) for key in keys)
    if names(document) is not None:
        yield f"system.{COUNT}"


def _common(combinations: Sequence[Levels]) -> Levels:
    first: Levels = combinations[0] if combinations else {}
    return {
        key: level
        for key, level in first.items()
        if all(other[key] == level for other in combinations)
    }


def _in_words(levels: Levels) -> str:
    return ", ".join(f"{dotted(key.split('.'))} = {shown(level)}" for key, level in levels.items())
