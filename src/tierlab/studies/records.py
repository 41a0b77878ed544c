"""What a study measured, as it is kept: the table beside its experiment file.

A run folder is not kept in a source tree. What it said of each claim is, with the place that tells
of it, so that published and measured can be read side by side without running anything.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field

from tierlab.studies.part import Part, Words, read

SUFFIX = ".measured.toml"


class Value(Part):
    """What a measure found, and the words that give it with its circumstances."""

    value: float
    words: Words


class Kept(Part):
    """One time that the study ran as its file says: ``record`` is the page and section, below
    ``docs/reference``, that tells of it, ``minutes`` how long it took where that was noted and
    ``short_minutes`` how long the short form did, ``values`` what each measure found.
    """

    when: date
    machine: Words
    form: Words
    record: Annotated[str, Field(pattern=r"^[a-z-]+\.md#[a-z0-9-]+$")]
    minutes: Annotated[float, Field(gt=0)] | None = None
    short_minutes: Annotated[float, Field(gt=0)] | None = None
    values: dict[Words, Value]


class Records(Part):
    """All times, in their order."""

    runs: Annotated[list[Kept], Field(min_length=1)]


def kept(experiment: Path) -> list[Kept]:
    """What is kept of a study by its experiment file; empty where nothing is."""
    path = experiment.with_name(experiment.name.removesuffix(".toml") + SUFFIX)
    if not path.exists():
        return []
    return read(path, Records, "it has what the study measured").runs


def minutes(runs: list[Kept]) -> float | None:
    """How long the study took the last time that this was noted; None where it never was."""
    return next((run.minutes for run in reversed(runs) if run.minutes is not None), None)


def short_minutes(runs: list[Kept]) -> float | None:
    """The same of its short form."""
    taken = (run.short_minutes for run in reversed(runs))
    return next((each for each in taken if each is not None), None)
