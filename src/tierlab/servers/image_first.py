"""Programs of images that run to their end before a server of an image starts, as a file has them.

A database migration is such a program. Each runs in a container of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tierlab.environments.image_root import ImageRoot
from tierlab.values.kinds import Kind

KEYS = (
    *("name", "image", "image_id", "command", "entrypoint", "environment", "run_as", "workdir"),
    *("volumes", "within"),
)
"""What a table says of such a program: its name, and the keys of a server that is an image."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,30}")
MOST = 8


@dataclass(frozen=True)
class FirstPrograms(Kind):
    """A list of tables, each of one program; `ImageOptions` checks what is in them."""

    def range(self) -> str:
        """Its form."""
        return "a list of tables"

    def words(self) -> str:
        """Its form, and the keys."""
        return (
            f"a list of tables, each with an image (keys: {', '.join(KEYS)}) and, if any, a name of"
            " letters, digits and - that no other has"
        )

    def check(self, value: object) -> tuple[dict[str, Any], ...]:
        """Return the tables as the file has them."""
        if not isinstance(value, list | tuple) or not 0 < len(value) <= MOST:
            raise ValueError
        for each in value:
            if not isinstance(each, Mapping) or "image" not in each or not set(each) <= set(KEYS):
                raise ValueError
        names = [each["name"] for each in value if "name" in each]
        if not all(isinstance(each, str) and NAME.fullmatch(each) for each in names):
            raise ValueError
        if len(set(names)) != len(names):
            raise ValueError
        return tuple(map(dict, value))

    def write(self, value: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
        """Return the tables as a file has them."""
        return list(value)

    def json_schema(self) -> dict[str, Any]:
        """An array of objects that know the keys."""
        properties: dict[str, Any] = {key: {} for key in KEYS}
        one = {"type": "object", "properties": properties, "required": ["image"]}
        return {"type": "array", "items": {**one, "additionalProperties": False}, "minItems": 1}


@dataclass(frozen=True)
class FirstProgram:
    """A program that is ready to run."""

    name: str
    root: ImageRoot
    words: tuple[str, ...]
    variables: Mapping[str, str]
    within: float
    """In how many seconds it has to end."""


def mistakes(error: ValidationError) -> Iterator[tuple[tuple[str, ...], str]]:
    """Return what a table's validation found, each with the key that it is at."""
    for each in error.errors(include_url=False):
        at = tuple(map(str, each["loc"]))
        context: dict[str, Any] = each.get("ctx", {})
        if each["type"] == "problems":
            for found in context["problems"]:
                yield (*at, *found["at"]), str(found["text"])
        elif each["type"] == "problem":
            yield (*at, *context["at"]), str(context["text"])
        else:
            wanted = context.get("words", each["msg"])
            yield at, f"must be {wanted}, not {each['input']!r}"
