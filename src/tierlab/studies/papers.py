"""A paper's figures and tables, every one: which claims are of it, or why there is none.

``studies/papers/`` has a file for each paper. That none of its figures is forgotten is checked as
the file is read; :func:`mismatches` holds the files against the studies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from tierlab.studies.part import WRONG, Part, Words, read
from tierlab.studies.published import Published

Kind = Literal["figure", "table"]
KINDS: tuple[Kind, ...] = ("figure", "table")
NUMBER = re.compile(r"^([1-9][0-9]*)(?:\(([a-z])\))?$")
Numbered = Annotated[str, Field(pattern=NUMBER.pattern)]
"""As in print: `7`, or `7(b)` for a part. Roman numerals are written as Arabic ones."""


class Item(Part):
    """A figure, a part of one, or a table; ``shows`` says of what."""

    figure: Numbered | None = None
    table: Numbered | None = None
    shows: Words

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.figure is None) == (self.table is None):
            raise PydanticCustomError(WRONG, "must be either a figure or a table")
        return self

    @property
    def kind(self) -> Kind:
        """Which of the two it is."""
        return "table" if self.figure is None else "figure"

    @property
    def number(self) -> str:
        """Its number in print."""
        return self.figure or self.table or ""

    @property
    def place(self) -> tuple[Kind, int, str]:
        """Kind, number and part, by which items are sorted."""
        found = NUMBER.match(self.number)
        assert found is not None
        return self.kind, int(found[1]), found[2] or ""


class Shown(Item):
    """One with results: what was ``published`` there, by study the measures of the ``claims`` that
    are of it, and which of the paper's reasons says ``why`` it, or the rest of it, is not shown.
    """

    published: Words
    claims: dict[str, Annotated[list[Words], Field(min_length=1)]] = Field(default_factory=dict)
    why: Words | None = None

    @model_validator(mode="after")
    def _answered(self) -> Self:
        if not self.claims and self.why is None:
            raise PydanticCustomError(
                WRONG,
                "{kind} {number} has neither `claims` nor `why`",
                {"kind": self.kind, "number": self.number},
            )
        return self


class PaperFile(Part):
    """The whole file. ``figures`` and ``tables`` are how many the paper has; ``results`` and
    ``no_results`` name each of them.
    """

    title: Words
    author: Words
    year: Annotated[int, Field(ge=1950, le=2100)]
    where: Words
    figures: Annotated[int, Field(ge=0)]
    tables: Annotated[int, Field(ge=0)]
    reasons: dict[str, Words] = Field(default_factory=dict)
    results: Annotated[list[Shown], Field(min_length=1)]
    no_results: list[Item] = Field(default_factory=list)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        items = [*self.results, *self.no_results]
        for kind, count in zip(KINDS, (self.figures, self.tables), strict=True):
            _check_numbers(kind, count, [each.place for each in items if each.kind == kind])
        named = {each.why for each in self.results if each.why is not None}
        for name in sorted(named ^ self.reasons.keys()):
            what = "is no reason of this paper's" if name in named else "is nobody's reason"
            raise PydanticCustomError(WRONG, "`{name}` {what}", {"name": name, "what": what})
        return self


def _check_numbers(kind: Kind, count: int, places: Sequence[tuple[Kind, int, str]]) -> None:
    """Every number from 1 on is there once, or in parts from (a) on."""

    def wrong(number: int, what: str) -> PydanticCustomError:
        said = {"kind": kind, "number": number, "what": what}
        return PydanticCustomError(WRONG, "{kind} {number} {what}", said)

    parts: dict[int, list[str]] = {}
    for _, number, part in sorted(places):
        parts.setdefault(number, []).append(part)
    for number in range(1, count + 1):
        if number not in parts:
            raise wrong(number, "is neither among the results nor said to have none")
    for number, found in parts.items():
        if number > count:
            raise wrong(number, f"is beyond the paper's last, {count}")
        if found not in ([""], list(ascii_lowercase[: len(found)])):
            raise wrong(number, "is there more than once, or a part of it is missing")


def load(path: Path) -> PaperFile:
    """Read a paper's file; UserError with one sentence when anything is wrong."""
    return read(path, PaperFile, "it lists a paper's figures and tables")


def mismatches(papers: Iterable[PaperFile], studies: Mapping[str, Published]) -> list[str]:
    """What papers and studies say that does not fit together, a sentence each: claims named that
    are in no study, or in another paper's, and claims that no figure names.
    """
    found: list[str] = []
    named: set[tuple[str, str]] = set()
    for paper in papers:
        for item in paper.results:
            at = f"{paper.author} ({paper.year}), {item.kind} {item.number}"
            for name, measures in item.claims.items():
                found += _unknown(at, paper, name, measures, studies.get(name))
                named |= {(name, measure) for measure in measures}
    for name, study in studies.items():
        counted = Counter(claim.measure for claim in study.claims)
        for measure, count in counted.items():
            if count > 1:
                found.append(f"study `{name}`: {count} claims are of measure `{measure}`.")
            if (name, measure) not in named:
                found.append(f"study `{name}`: no figure names its claim of measure `{measure}`.")
    return found


def _unknown(
    at: str, paper: PaperFile, name: str, measures: Iterable[str], study: Published | None
) -> Iterator[str]:
    if study is None:
        yield f"{at}: there is no study `{name}`."
        return
    if study.paper.title != paper.title:
        yield f"{at}: study `{name}` repeats another paper."
    known = {claim.measure for claim in study.claims}
    for measure in measures:
        if measure not in known:
            yield f"{at}: study `{name}` has no claim of measure `{measure}`."
