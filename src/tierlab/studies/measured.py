"""A measure, and what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tierlab.analysis.result import Result
from tierlab.studies.cases import Cases
from tierlab.studies.seen import Seen


class Measured(Result):
    """A ``value`` and the ``words`` that give it with its circumstances; None when it was not
    measured, the words then say why.
    """

    value: float | None
    words: str


Of = TypeVar("Of")


@dataclass(frozen=True)
class MeasureOf(Generic[Of]):
    """``how`` says what is measured, ``by`` are the functions that do it."""

    how: str
    by: tuple[Callable[..., Any], ...]
    take: Callable[[Of], Measured]

    @property
    def functions(self) -> list[str]:
        """The functions' names, as they are imported."""
        return [f"{each.__module__}.{each.__name__}" for each in self.by]


Measure = MeasureOf[Seen]
"""Of one run."""
CaseMeasure = MeasureOf[Cases]
"""Of all trials of a study."""


def missing(why: str) -> Measured:
    """Say that it was not measured."""
    return Measured(value=None, words=why)


def share_of(count: int, total: int, what: str) -> Measured:
    """Return a share as counted."""
    return Measured(value=count / total, words=f"{count} of {total} {what}")


def milliseconds(seconds: float) -> str:
    """Write a duration as the papers do."""
    return f"{seconds:.1f} s" if seconds >= 2 else f"{seconds * 1e3:.0f} ms"
