"""`[factors]`: levels to cross, repetitions, and the order of trials."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from tierlab.experiment.by_name import as_written, by_name
from tierlab.experiment.problem import problem, raise_all, shown
from tierlab.values.kinds import Whole
from tierlab.values.section import Section

CROSSABLE = ("system", "load", "observe")
"""The tables whose keys may be factors."""

Item = TypeVar("Item")


class Factors(Section):
    """Dotted keys with their levels (`"load.users" = [1000, 2000]`), crossed."""

    repeat: Annotated[int, Whole(1, 1000)] = 1
    """How often each combination is run: the n-th time with seed + n - 1, on the same data."""

    order: Literal["stated", "random"] = "stated"
    """Order of the combinations within a repetition; `"random"` is drawn from the seed."""

    levels: dict[str, list[Any]] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        own = {key: table[key] for key in ("repeat", "order") if key in table}
        rest = {key: value for key, value in table.items() if key not in own}
        levels, problems = stated_levels(rest)
        raise_all(problems)
        return own | {"levels": levels}

    @model_serializer(mode="plain", when_used="json")
    def _write(self) -> dict[str, Any]:
        return {"repeat": self.repeat, "order": self.order} | self.levels

    @property
    def trials(self) -> int:
        """How many there will be."""
        return self.repeat * math.prod(len(levels) for levels in self.levels.values())

    def crossed(self) -> list[dict[str, Any]]:
        """Every combination: level by key, the first key varying slowest."""
        return [
            dict(zip(self.levels, chosen, strict=True))
            for chosen in itertools.product(*self.levels.values())
        ]

    def blocks(self, combinations: Sequence[Item], seed: int) -> Iterator[tuple[int, Item]]:
        """(repetition from 1, combination) in the order of the trials.

        A repetition is a complete block: every combination once, so that a machine which drifts
        does so over all levels alike.
        """
        order = list(combinations)
        shuffler = random.Random(seed)
        for repetition in range(1, self.repeat + 1):
            if self.order == "random":
                shuffler.shuffle(order)
            for combination in order:
                yield repetition, combination


def stated_levels(
    table: Mapping[str, Any],
) -> tuple[dict[str, list[Any]], list[PydanticCustomError]]:
    """The levels by dotted key, of the keys whose levels are a list, and what is wrong."""
    levels: dict[str, list[Any]] = {}
    problems = []
    for dotted, value in _flat(table):
        if dotted in levels:
            problems.append(problem("is given twice, quoted and unquoted", dotted))
        elif not isinstance(value, list) or not value:
            problems.append(problem(f"must be a list of levels, not {shown(value)}", dotted))
        else:
            levels[dotted] = value
            if any(value[i] in value[:i] for i in range(len(value))):
                problems.append(problem(f"lists a level twice: {shown(value)}", dotted))
    for above, below in itertools.permutations(levels, 2):
        if below.startswith(f"{above}."):
            words = f"would replace the levels of {below}; put that key into its tables"
            problems.append(problem(words, above))
    return levels, problems


def _flat(table: Mapping[str, Any], *above: str) -> Iterator[tuple[str, Any]]:
    """Unquoted dotted keys arrive as nested tables; quoted ones as they are."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, *above, key)
        else:
            yield ".".join([*above, key]), value


def with_levels(document: Mapping[str, Any], levels: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the file's tables in which every dotted key of `levels` has its level."""
    changed = by_name(document)
    for dotted, level in levels.items():
        table = changed
        *above, last = dotted.split(".")
        for key in above:
            below = table.get(key, {})
            if not isinstance(below, dict):
                break  # no table: left for validation to report
            table[key] = table = dict(below)
        else:
            table[last] = level
    return as_written(changed, document)
