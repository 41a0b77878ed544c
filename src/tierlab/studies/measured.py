"""A measure, and what it found in a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tierlab.analysis.result import Result
from tierlab.studies.seen import Seen


class Measured(Result):
    """A ``value`` and the ``words`` that give it with its circumstances; None when it was not
    measured, the words then say why.
    """

    value: float | None
    words: str


@dataclass(frozen=True)
class Measure:
    """``how`` says what is measured, ``by`` are the functions that do it."""

    how: str
    by: tuple[Callable[..., Any], ...]
    take: Callable[[Seen], Measured]

    @property
    def functions(self) -> list[str]:
        """The functions' names, as they are imported."""
        return [f"{each.__module__}.{each.__name__}" for each in self.by]


def missing(why: str) -> Measured:
    """Say that it was not measured."""
    return Measured(value=None, words=why)


def share_of(count: int, total: int, what: str) -> Measured:
    """Return a share as counted."""
    return Measured(value=count / total, words=f"{count} of {total} {what}")


def milliseconds(seconds: float) -> str:
    """Write a duration as the papers do."""
    return f"{seconds:.1f} s" if seconds >= 2 else f"{seconds * 1e3:.0f} ms"
