"""From when on a request took very long: the value of a key that is a duration or "valley"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from tierlab.values.kinds import Duration, Kind

VALLEY = "valley"


@dataclass(frozen=True)
class DurationOrValley(Kind):
    """A length of time, nanoseconds in the plan, or the valley of the response times."""

    least: str
    most: str

    @property
    def _duration(self) -> Duration:
        return Duration(self.least, self.most)

    def range(self) -> str:
        """`"10ms" to "1h", or "valley"`."""
        return f'{self._duration.range()}, or "{VALLEY}"'

    def words(self) -> str:
        """`"valley" or a duration from "10ms" to "1h"`, and the units."""
        return f'"{VALLEY}" or {self._duration.words()}'

    def check(self, value: object) -> int | str:
        """Nanoseconds, or the word."""
        return VALLEY if value == VALLEY else self._duration.check(value)

    def write(self, value: int | str) -> str:
        """`"2s"`, or the word."""
        return value if isinstance(value, str) else self._duration.write(value)

    def json_schema(self) -> dict[str, Any]:
        """A string with a unit, or the word."""
        return {"anyOf": [{"const": VALLEY}, self._duration.json_schema()]}


VERY_LONG: Final = DurationOrValley("10ms", "1h")

VeryLong = Annotated[int | Literal["valley"], VERY_LONG]
"""Nanoseconds, or the word."""
