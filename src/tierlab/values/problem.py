"""What a validator finds wrong, in the words of whoever reads the file."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic_core import PydanticCustomError


def problem(text: str, *at: str) -> PydanticCustomError:
    """An error for a validator to raise: `text` goes on from the key at `at` below the table."""
    return PydanticCustomError("problem", "{text}", {"text": text, "at": at})


def raise_all(problems: Iterable[PydanticCustomError]) -> None:
    """Raise a validator's problems as one error; nothing where there is none."""
    if all_of_them := [each.context for each in problems]:
        raise PydanticCustomError("problems", "several", {"problems": all_of_them})
