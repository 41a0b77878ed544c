"""The kinds of value an experiment file holds, each with its range and its own words.

A kind is put in an annotation (`Annotated[int, Duration("10ms", "10s")]`). It checks the value,
says in words what it wants (for error sentences and for the reference page), writes the value back
in the file's form and describes it to JSON Schema. Durations become nanoseconds, sizes bytes.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from tierlab.values.quantities import (
    BYTES,
    NANOSECONDS,
    format_duration,
    format_size,
    parse_quantity,
)


class Kind(ABC):
    """A checked kind of value; subclasses say what they accept and how it is written."""

    @abstractmethod
    def range(self) -> str:
        """What is allowed, shortly: `"10ms" to "10s"`."""

    @abstractmethod
    def words(self) -> str:
        """What is wanted: `a duration from "10ms" to "10s"`."""

    @abstractmethod
    def check(self, value: object) -> Any:
        """The value as the plan holds it; ValueError (without text of its own) when it is wrong."""

    def write(self, value: Any) -> Any:
        """The value as a file holds it."""
        return value

    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """The value as a file holds it, in JSON Schema."""

    def __get_pydantic_core_schema__(
        self, _source: object, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def checked(value: object) -> Any:
            try:
                return self.check(value)
            except ValueError:
                raise PydanticCustomError("kind", "{words}", {"words": self.words()}) from None

        return core_schema.no_info_plain_validator_function(
            checked,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: None if value is None else self.write(value), when_used="json"
            ),
        )


@dataclass(frozen=True)
class Duration(Kind):
    """A length of time, `"500ms"`, in whole `step`s; nanoseconds in the plan."""

    least: str
    most: str
    step: str = "1ns"

    def range(self) -> str:
        """`"10ms" to "10s"`; with a step `"1s" to "1h" in steps of "1s"`."""
        steps = "" if self.step == "1ns" else f' in steps of "{self.step}"'
        return f'"{self.least}" to "{self.most}"{steps}'

    def words(self) -> str:
        """`a duration from "10ms" to "10s"`, and the units."""
        return f"a duration from {self.range()} (units: {', '.join(NANOSECONDS)})"

    def check(self, value: object) -> int:
        """Nanoseconds."""
        return _quantity(value, (self.least, self.most, self.step), NANOSECONDS)

    def write(self, value: int) -> str:
        """`"500ms"`."""
        return format_duration(value)

    def json_schema(self) -> dict[str, Any]:
        """A string with a unit."""
        return {"type": "string", "pattern": rf"^[0-9]+(\.[0-9]+)? ?({'|'.join(NANOSECONDS)})$"}


@dataclass(frozen=True)
class Size(Kind):
    """An amount of memory or storage, `"2GiB"`, in whole `step`s; bytes in the plan."""

    least: str
    most: str
    step: str = "1B"

    def range(self) -> str:
        """`"16MiB" to "1TiB"`; with a step `"32MiB" to "1TiB" in steps of "1MiB"`."""
        steps = "" if self.step == "1B" else f' in steps of "{self.step}"'
        return f'"{self.least}" to "{self.most}"{steps}'

    def words(self) -> str:
        """`a size from "16MiB" to "1TiB"`, and the units."""
        return f"a size from {self.range()} (units: {', '.join(BYTES)})"

    def check(self, value: object) -> int:
        """Bytes."""
        return _quantity(value, (self.least, self.most, self.step), BYTES)

    def write(self, value: int) -> str:
        """`"2GiB"`."""
        return format_size(value)

    def json_schema(self) -> dict[str, Any]:
        """A string with a unit."""
        return {"type": "string", "pattern": rf"^[0-9]+(\.[0-9]+)? ?({'|'.join(BYTES)})$"}


def _quantity(value: object, bounds: tuple[str, str, str], units: Mapping[str, int]) -> int:
    """The value in the smallest unit; ValueError outside of (least, most, step)."""
    quantity = parse_quantity(value, units) if isinstance(value, str) else None
    least, most, step = (parse_quantity(bound, units) for bound in bounds)
    if quantity is None or least is None or most is None or step is None:
        raise ValueError
    if not least <= quantity <= most or quantity % step:
        raise ValueError
    return quantity


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number."""

    least: int
    most: int

    def range(self) -> str:
        """`1 to 4`; `1` when it can be nothing else."""
        return f"{self.least} to {self.most}" if self.least < self.most else f"{self.least}"

    def words(self) -> str:
        """`a whole number from 1 to 4`."""
        return f"a whole number from {self.range()}" if self.least < self.most else self.range()

    def check(self, value: object) -> int:
        """The number; `true` is not one."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError
        if not self.least <= value <= self.most:
            raise ValueError
        return value

    def json_schema(self) -> dict[str, Any]:
        """An integer with its bounds."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Real(Kind):
    """A number, whole or not."""

    least: float
    most: float

    def range(self) -> str:
        """`0 to 1`."""
        return " to ".join(
            f"{bound:.6f}".rstrip("0").rstrip(".") for bound in (self.least, self.most)
        )

    def words(self) -> str:
        """`a number from 0 to 1`."""
        return f"a number from {self.range()}"

    def check(self, value: object) -> float:
        """The number as a float; neither infinite nor NaN."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ValueError
        number = float(value) if abs(value) <= self.most else math.inf
        if not self.least <= number <= self.most:
            raise ValueError
        return number

    def json_schema(self) -> dict[str, Any]:
        """A number with its bounds."""
        return {"type": "number", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Text(Kind):
    """A short text; `pattern` (a whole-string regular expression) in `meaning`'s words."""

    meaning: str
    pattern: str

    def range(self) -> str:
        """The meaning."""
        return self.meaning

    def words(self) -> str:
        """The meaning."""
        return self.meaning

    def check(self, value: object) -> str:
        """The text."""
        if not isinstance(value, str) or re.fullmatch(self.pattern, value, re.ASCII) is None:
            raise ValueError
        return value

    def json_schema(self) -> dict[str, Any]:
        """A string with its pattern."""
        return {"type": "string", "pattern": f"^({self.pattern})$"}


@dataclass(frozen=True)
class Numbers(Kind):
    """A list of distinct whole numbers, not empty."""

    least: int
    most: int

    def range(self) -> str:
        """`[0 to 3, ...]`."""
        return f"[{self.least} to {self.most}, ...]"

    def words(self) -> str:
        """`a list of different whole numbers from 0 to 3`."""
        return f"a list of different whole numbers from {self.least} to {self.most}"

    def check(self, value: object) -> tuple[int, ...]:
        """The numbers in their order."""
        if not isinstance(value, list | tuple) or not value:
            raise ValueError
        one = Whole(self.least, self.most)
        numbers = tuple(one.check(item) for item in value)
        if len(set(numbers)) != len(numbers):
            raise ValueError
        return numbers

    def write(self, value: tuple[int, ...]) -> list[int]:
        """A list."""
        return list(value)

    def json_schema(self) -> dict[str, Any]:
        """An array of integers."""
        items = Whole(self.least, self.most).json_schema()
        return {"type": "array", "items": items, "uniqueItems": True, "minItems": 1}


@dataclass(frozen=True)
class Selection(Kind):
    """`"all"`, `"none"` or a list out of `names`."""

    names: tuple[str, ...]

    def range(self) -> str:
        """`"all", "none" or a list out of ...`."""
        return f'"all", "none" or a list out of {", ".join(self.names)}'

    def words(self) -> str:
        """The same."""
        return self.range()

    def check(self, value: object) -> tuple[str, ...]:
        """The chosen names in the table's own order."""
        if value == "all":
            return self.names
        if value == "none":
            return ()
        if not isinstance(value, list | tuple) or any(item not in self.names for item in value):
            raise ValueError
        return tuple(name for name in self.names if name in value)

    def write(self, value: tuple[str, ...]) -> str | list[str]:
        """`"all"`, `"none"` or the list."""
        if value == self.names:
            return "all"
        return list(value) or "none"

    def json_schema(self) -> dict[str, Any]:
        """A word or an array of names."""
        items = {"type": "string", "enum": list(self.names)}
        return {"anyOf": [{"enum": ["all", "none"]}, {"type": "array", "items": items}]}
