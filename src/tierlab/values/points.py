"""A kind of value that is a curve: points in time, with straight lines between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tierlab.values.kinds import Duration, Kind, Real

Points = tuple[tuple[int, float], ...]
"""(nanoseconds, level), in order of time."""


@dataclass(frozen=True)
class Curve(Kind):
    """At least two of `[time, level]`, the first at no time, none before the one above it; levels
    from 0 to 1, one of them above 0. Two at the same time are a jump.
    """

    longest: str = "8784h"
    most: int = 10_000

    def range(self) -> str:
        """`[["0s", 0 to 1], ["1h", 0 to 1], ...]`."""
        return '[["0s", 0 to 1], ["1h", 0 to 1], ...]'

    def words(self) -> str:
        """What is wanted, with an example."""
        return (
            f"a list of 2 to {self.most} points [time, level] in order of time, such as"
            ' [["0h", 0.2], ["9h", 1], ["24h", 0.2]]: the first at "0h", the last after it, levels'
            " from 0 to 1 and one above 0"
        )

    def check(self, value: object) -> Points:
        """The points, their times in nanoseconds."""
        if not isinstance(value, list | tuple) or not 2 <= len(value) <= self.most:
            raise ValueError
        points = tuple(map(self._point, value))
        times = [at for at, _ in points]
        if times[0] != 0 or times[-1] == 0 or times != sorted(times):
            raise ValueError
        if not any(level > 0 for _, level in points):
            raise ValueError
        return points

    def _point(self, value: object) -> tuple[int, float]:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise ValueError
        return Duration("0s", self.longest).check(value[0]), Real(0, 1).check(value[1])

    def write(self, value: Points) -> list[list[Any]]:
        """The points, their times with a unit."""
        return [[Duration("0s", self.longest).write(at), level] for at, level in value]

    def json_schema(self) -> dict[str, Any]:
        """An array of pairs."""
        pair = [Duration("0s", self.longest).json_schema(), Real(0, 1).json_schema()]
        item = {"type": "array", "prefixItems": pair, "minItems": 2, "maxItems": 2}
        return {"type": "array", "items": item, "minItems": 2, "maxItems": self.most}
