"""A paper's figures drawn again: which runs' values stand where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tierlab.analysis.query import Floats
from tierlab.studies.caches import misses
from tierlab.studies.cases import Case, Cases, Trial


@dataclass(frozen=True)
class Quantity:
    """What a figure shows of a case: a value for each of its runs, in the order of time."""

    unit: str
    of: Callable[[Case], Floats]


@dataclass(frozen=True)
class Line:
    """Values by place, where it has any; the places of a figure are all its lines'."""

    name: str
    values: dict[str, list[float]]


def _each_trial(figure: Callable[[Trial], float | None]) -> Callable[[Case], Floats]:
    def of(case: Case) -> Floats:
        known = [value for trial in case.trials if (value := figure(trial)) is not None]
        return np.array(known, np.float64)

    return of


def _thousandths(value: float | None) -> float | None:
    return None if value is None else 1e3 * value


QUANTITIES: Final[dict[str, Quantity]] = {
    "throughput": Quantity("requests/s", lambda case: case.runs),
    "response time": Quantity("s", lambda case: case.times_s),
    "web tier's CPU use": Quantity("PUs", _each_trial(lambda trial: trial.first_use)),
    "last-level cache misses": Quantity(
        "of 1,000 instructions", _each_trial(lambda trial: _thousandths(misses([trial])))
    ),
    "database's CPU use": Quantity("PUs", _each_trial(lambda trial: trial.last_use)),
    "all servers' CPU use": Quantity("PUs", _each_trial(lambda trial: trial.all_use)),
}
"""By the names that published tables use."""


def by_case(cases: Cases, quantity: Quantity) -> list[Line]:
    """One line, whose places are the cases."""
    return [Line("", {each.name: _values(each, quantity) for each in cases.cases})]


def by_level(cases: Cases, quantity: Quantity, over: str) -> list[Line]:
    """A line for each combination of the other factors' levels, whose places are those of one."""
    lines: dict[str, dict[str, list[float]]] = {}
    for case in cases.cases:
        others = [_named(key, level) for key, level in case.levels.items() if key != over]
        line = lines.setdefault(", ".join(others), {})
        line.setdefault(_written(case.levels.get(over)), []).extend(_values(case, quantity))
    return [Line(name, values) for name, values in lines.items()]


def _values(case: Case, quantity: Quantity) -> list[float]:
    found: list[float] = quantity.of(case).tolist()
    return found


def _named(key: str, level: Any) -> str:
    """A word says what it is of; a number does not."""
    return level if isinstance(level, str) else f"{key.rpartition('.')[2]} {_written(level)}"


def _written(level: Any) -> str:
    return f"{level:,}" if isinstance(level, int) else str(level)
