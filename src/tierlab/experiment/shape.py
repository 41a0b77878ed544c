"""`[load.shape]`: how much of the load there is when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from tierlab.experiment.curve_file import CurveFileError, read_curve
from tierlab.experiment.problem import problem, raise_all
from tierlab.values.kinds import Duration, Real, Text, Whole
from tierlab.values.points import Curve, Points
from tierlab.values.quantities import SECOND, format_duration
from tierlab.values.section import Section

OWN = {
    "constant": frozenset(),
    "day": frozenset({"low", "count"}),
    "bursts": frozenset({"low", "count", "length"}),
    "steps": frozenset({"low", "count"}),
    "ramp": frozenset({"low"}),
}
"""The keys that mean something in a kind of shape."""

COUNT = {"day": 1, "bursts": 5, "steps": 10}
"""How many there are unless the file says it."""

POINTS_A_DAY = 96
"""The lines between so many points of a cosine are nowhere a thousandth off it."""

FOLDER = "folder"
"""Key of the validation's context: the folder of the experiment file."""


class Shape(Section):
    """The load over the runtime: `users` or `rate` is its highest, levels are shares of that."""

    kind: Literal["constant", "day", "bursts", "steps", "ramp"] = "constant"
    """All the time the same; days, each from its lowest over its highest and back as a cosine;
    bursts, evenly apart; steps upwards, all as high and as long; or one straight line upwards."""

    low: Annotated[float | None, Real(0, 1)] = Field(default=None, examples=[0.1])
    """The lowest level: a day's night, between bursts, the first step, a ramp's start; 0.1 unless
    it is given."""

    count: Annotated[int | None, Whole(1, 100)] = Field(default=None, examples=[10])
    """How many days (without it, 1), bursts (5) or steps (10) the runtime has."""

    length_ns: Annotated[int | None, Duration("10ms", "1h")] = Field(
        default=None, alias="length", examples=["1s"]
    )
    """How long a burst is; 1 s unless it is given."""

    points: Annotated[Points | None, Curve()] = Field(
        default=None, examples=[[["0h", 0.2], ["9h", 1.0], ["24h", 0.2]]]
    )
    """Instead of a kind: times, each with its level, and straight lines between. The whole is
    stretched over the runtime: a day in ten minutes. Twice the same time is a jump."""

    file: Annotated[str | None, Text("a path of at most 4,096 characters", r"[^\0]{1,4096}")] = (
        Field(default=None, examples=["day.csv"])
    )
    """Instead of points: a CSV file beside this one with a time in seconds and a load of any unit
    in each line. Both are scaled: the times to the runtime, the loads so that the highest is 1."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, table: Any, info: ValidationInfo) -> Any:
        """The points of the file in its place: a plan says all that it runs with."""
        if not isinstance(table, Mapping) or not isinstance(table.get("file"), str):
            return table
        if "points" in table:
            raise problem("has both points and file; keep one of them")
        folder = (info.context or {}).get(FOLDER, Path())
        try:
            points = read_curve(folder / table["file"])
        except CurveFileError as error:
            raise_all(problem(text, "file") for text in error.problems)
        rest = {key: value for key, value in table.items() if key != "file"}
        return rest | {"points": Curve().write(points)}

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        fields = type(self).model_fields
        given = {fields[name].alias or name: getattr(self, name) for name in self.model_fields_set}
        raise_all(shape_problems(given))
        return self

    @model_serializer(mode="wrap", when_used="json")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        if self.points is not None:
            return {"points": Curve().write(self.points)}
        own = OWN[self.kind]
        return {key: value for key, value in write(self).items() if key in own or key == "kind"}

    @property
    def is_constant(self) -> bool:
        """Whether the load is the same all the time."""
        return self.points is None and self.kind == "constant"

    @property
    def name(self) -> str:
        """The kind, or `"points"`."""
        return self.kind if self.points is None else "points"

    def length_problem(self, runtime_ns: int) -> PydanticCustomError | None:
        """The problem of bursts that are longer than a runtime."""
        count, length_ns = self._count, self._length_ns
        if self.points is not None or self.kind != "bursts" or count * length_ns < runtime_ns:
            return None
        return problem(
            f"has {count} bursts of {format_duration(length_ns)}, which leave nothing between them"
            f" in a runtime of {format_duration(runtime_ns)}",
            "shape",
        )

    def curve(self, runtime_ns: int) -> Points:
        """The shape over a runtime: nanoseconds since its start, and levels; straight lines
        between.
        """
        low, count = 0.1 if self.low is None else self.low, self._count
        if self.points is not None:
            length = self.points[-1][0]
            return tuple((at * runtime_ns // length, level) for at, level in self.points)
        match self.kind:
            case "day":
                shares = _days(low, count)
            case "bursts":
                shares = _bursts(low, count, self._length_ns / runtime_ns)
            case "steps":
                shares = _steps(low, count)
            case "ramp":
                shares = iter([(0.0, low), (1.0, 1.0)])
            case _:
                shares = iter([(0.0, 1.0), (1.0, 1.0)])
        return tuple((round(at * runtime_ns), level) for at, level in shares)

    @property
    def _count(self) -> int:
        return COUNT.get(self.kind, 1) if self.count is None else self.count

    @property
    def _length_ns(self) -> int:
        return SECOND if self.length_ns is None else self.length_ns


def shape_problems(table: Mapping[str, Any]) -> Iterator[PydanticCustomError]:
    """The problems of a table `[load.shape]` whose keys do not go together."""
    recorded = {"points", "file"}.intersection(table)
    if recorded:
        for key in sorted(table.keys() - {"points", "file"}):
            yield problem("goes without points or a file; remove one of them", key)
        return
    kind = table.get("kind", "constant")
    if kind not in OWN:
        return
    of_kinds = frozenset[str]().union(*OWN.values())
    for key in sorted(of_kinds.intersection(table) - OWN[kind]):
        kinds = " or ".join(f'"{each}"' for each, keys in OWN.items() if key in keys)
        yield problem(f'goes with the kind {kinds}, not with "{kind}"', key)
    if kind == "steps" and table.get("count") == 1:
        yield problem('must be at least 2 with the kind "steps"', "count")


def _days(low: float, count: int) -> Iterator[tuple[float, float]]:
    points = count * POINTS_A_DAY
    for point in range(points + 1):
        height = (1 - math.cos(2 * math.pi * point / POINTS_A_DAY)) / 2
        yield point / points, low + (1 - low) * height


def _bursts(low: float, count: int, length: float) -> Iterator[tuple[float, float]]:
    """Each in the middle of its part of the runtime."""
    yield 0.0, low
    for burst in range(count):
        middle = (burst + 0.5) / count
        start, end = middle - length / 2, middle + length / 2
        yield from ((start, low), (start, 1.0), (end, 1.0), (end, low))
    yield 1.0, low


def _steps(low: float, count: int) -> Iterator[tuple[float, float]]:
    for step in range(count):
        level = low + (1 - low) * step / (count - 1)
        yield step / count, level
        yield (step + 1) / count, level
