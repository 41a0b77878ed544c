"""Kinds of value that are texts of a user's own, paths among them: one, several, or a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tierlab.values.kinds import Kind

MOST_CHARACTERS = 4096
MOST = 256


def is_text(value: object) -> bool:
    """Whether it is a text that a file may hold: not empty, not too long, without NUL."""
    return isinstance(value, str) and 0 < len(value) <= MOST_CHARACTERS and "\0" not in value


@dataclass(frozen=True)
class Line(Kind):
    """A text in the words of `meaning`, such as "a command"."""

    meaning: str

    def range(self) -> str:
        """The meaning."""
        return self.meaning

    def words(self) -> str:
        """The meaning."""
        return self.meaning

    def check(self, value: object) -> str:
        """The text."""
        if not is_text(value) or not str(value).strip():
            raise ValueError
        return str(value)

    def json_schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS}


@dataclass(frozen=True)
class Lines(Kind):
    """One text, or a list of them, in the words of `meaning`, such as "paths"."""

    meaning: str

    def range(self) -> str:
        """The meaning."""
        return self.meaning

    def words(self) -> str:
        """The meaning, and its form."""
        return f"{self.meaning}: a text or a list of different ones"

    def check(self, value: object) -> tuple[str, ...]:
        """The texts in their order."""
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST:
            raise ValueError
        if not all(map(is_text, given)) or len(set(given)) != len(given):
            raise ValueError
        return tuple(given)

    def write(self, value: tuple[str, ...]) -> list[str]:
        """A list."""
        return list(value)

    def json_schema(self) -> dict[str, Any]:
        """A string or an array of them."""
        one = {"type": "string", "minLength": 1}
        return {"anyOf": [one, {"type": "array", "items": one, "uniqueItems": True, "minItems": 1}]}


@dataclass(frozen=True)
class LineTable(Kind):
    """A table of texts by name, in the words of `meaning`, such as "a table of variables"."""

    meaning: str

    def range(self) -> str:
        """The meaning."""
        return self.meaning

    def words(self) -> str:
        """The meaning, and its form."""
        return f'{self.meaning}, each with a text (NAME = "text")'

    def check(self, value: object) -> dict[str, str]:
        """The texts by name."""
        if not isinstance(value, Mapping) or len(value) > MOST:
            raise ValueError
        if not all(map(is_text, value)) or not all(
            isinstance(each, str) and "\0" not in each and len(each) <= MOST_CHARACTERS
            for each in value.values()
        ):
            raise ValueError
        return dict(value)

    def json_schema(self) -> dict[str, Any]:
        """An object of strings."""
        return {"type": "object", "additionalProperties": {"type": "string"}}


@dataclass(frozen=True)
class Chosen(Kind):
    """A list of different ones of `names`, or the word that stands instead."""

    names: tuple[str, ...]
    instead: str

    def range(self) -> str:
        """`a list out of web, db, or "found"`."""
        return f'a list out of {", ".join(self.names) or "the other tables"}, or "{self.instead}"'

    def words(self) -> str:
        """The same."""
        return self.range()

    def check(self, value: object) -> tuple[str, ...] | str:
        """The names in their order."""
        if value == self.instead:
            return self.instead
        if not isinstance(value, list | tuple) or len(set(map(str, value))) != len(value):
            raise ValueError
        if any(each not in self.names for each in value):
            raise ValueError
        return tuple(value)

    def write(self, value: tuple[str, ...] | str) -> list[str] | str:
        """A list, or the word."""
        return value if isinstance(value, str) else list(value)

    def json_schema(self) -> dict[str, Any]:
        """An array of strings, or the word."""
        names = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
        return {"anyOf": [names, {"const": self.instead}]}


@dataclass(frozen=True)
class Existing(Kind):
    """The path of a file, or of a folder, that there is; absolute in the plan."""

    what: Literal["file", "folder"]

    def range(self) -> str:
        """`a file`."""
        return f"a {self.what}"

    def words(self) -> str:
        """`a file that there is`."""
        return f"a {self.what} that there is"

    def check(self, value: object) -> str:
        """The path."""
        if not is_text(value):
            raise ValueError
        path = Path(str(value)).expanduser().absolute()
        if not (path.is_file() if self.what == "file" else path.is_dir()):
            raise ValueError
        return str(path)

    def json_schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True)
class ExistingFiles(Kind):
    """One path or several, of files that there are; absolute in the plan."""

    def range(self) -> str:
        """`a file, or a list of them`."""
        return "a file, or a list of them"

    def words(self) -> str:
        """The same."""
        return "a file that there is, or a list of them"

    def check(self, value: object) -> tuple[str, ...]:
        """The paths in their order."""
        return tuple(map(Existing("file").check, Lines("files").check(value)))

    def write(self, value: tuple[str, ...]) -> list[str]:
        """A list."""
        return list(value)

    def json_schema(self) -> dict[str, Any]:
        """A string or an array of them."""
        return Lines("files").json_schema()
