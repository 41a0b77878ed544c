"""A kind of value that is one of some words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from tierlab.values.kinds import Kind


@dataclass(frozen=True)
class Word(Kind):
    """One of some words."""

    choices: tuple[str, ...]

    def range(self) -> str:
        """`"event", "prefork"`."""
        return ", ".join(f'"{word}"' for word in self.choices)

    def words(self) -> str:
        """`"event" or "prefork"`."""
        *most, last = (f'"{word}"' for word in self.choices)
        return f"{', '.join(most)} or {last}" if most else last

    def check(self, value: object) -> str:
        """The word."""
        if not isinstance(value, str) or value not in self.choices:
            raise ValueError
        return value

    def json_schema(self) -> dict[str, Any]:
        """The words."""
        return {"enum": list(self.choices)}

    def __get_pydantic_core_schema__(
        self, _source: object, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.literal_schema(list(self.choices))
