"""The kind of value that says when in the runtime something happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tierlab.values.kinds import Duration, Kind


@dataclass(frozen=True)
class Moment(Kind):
    """A point of the runtime by its distance from the start, or `"random"`; nanoseconds."""

    least: str
    most: str

    def range(self) -> str:
        """`"0s" to "24h", or "random"`."""
        return f'{self._stated.range()}, or "random"'

    def words(self) -> str:
        """`a duration from "0s" to "24h" (units: ...) or "random"`."""
        return f'{self._stated.words()} or "random"'

    def check(self, value: object) -> int | Literal["random"]:
        """Nanoseconds, unless it is to be drawn."""
        return "random" if value == "random" else self._stated.check(value)

    def write(self, value: int | Literal["random"]) -> str:
        """`"20s"`."""
        return "random" if value == "random" else self._stated.write(value)

    def json_schema(self) -> dict[str, Any]:
        """A string with a unit, or the word."""
        return {"anyOf": [self._stated.json_schema(), {"const": "random"}]}

    @property
    def _stated(self) -> Duration:
        return Duration(self.least, self.most)
