"""A kind of value that is a length of time, or one of some words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tierlab.values.kinds import Duration, Kind
from tierlab.values.word import Word


@dataclass(frozen=True)
class DurationOrWord(Kind):
    """A length of time, nanoseconds in the plan, or a word."""

    duration: Duration
    word: Word

    def range(self) -> str:
        """`"10ms" to "1h", or "valley"`."""
        return f"{self.duration.range()}, or {self.word.words()}"

    def words(self) -> str:
        """`"valley" or a duration from "10ms" to "1h"`, and the units."""
        return f"{self.word.range()} or {self.duration.words()}"

    def check(self, value: object) -> int | str:
        """Nanoseconds, or the word."""
        if isinstance(value, str) and value in self.word.choices:
            return value
        return self.duration.check(value)

    def write(self, value: int | str) -> str:
        """`"2s"`, or the word."""
        return value if isinstance(value, str) else self.duration.write(value)

    def json_schema(self) -> dict[str, Any]:
        """A string with a unit, or one of the words."""
        return {"anyOf": [self.word.json_schema(), self.duration.json_schema()]}
