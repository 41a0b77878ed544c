"""What a paper published: the table beside a study's experiment file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from tierlab.studies.drawn import QUANTITIES
from tierlab.studies.measures import MEASURES, OVER_CASES
from tierlab.studies.part import WRONG, Part, Words, read

SUFFIX = ".published.toml"


class Paper(Part):
    """Where it was published, on what it was measured, and how this study differs from that."""

    title: Words
    author: Words
    where: Words
    testbed: Words
    here: Words


class Bounds(Part):
    """Which measured values agree; an open side has no bound."""

    least: float | None = None
    most: float | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.least is None and self.most is None:
            raise PydanticCustomError(WRONG, "gives neither least nor most")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise PydanticCustomError(WRONG, "has a least above its most")
        return self

    def hold(self, value: float) -> bool:
        """Say whether a value lies within them."""
        low = self.least is None or value >= self.least
        return low and (self.most is None or value <= self.most)


class Claim(Part):
    """One observation: its figure, what was seen, the value in print, and how it is compared."""

    figure: Words
    seen: Words
    value: Words
    measure: Words
    agrees: Bounds

    @model_validator(mode="after")
    def _known(self) -> Self:
        known = sorted(MEASURES | OVER_CASES)
        if self.measure not in known:
            raise PydanticCustomError(
                WRONG,
                "has no measure `{measure}`: there are {known}",
                {"measure": self.measure, "known": ", ".join(known)},
            )
        return self


class Printed(Part):
    """One of the paper's cases: its name there, what is printed of it, and the levels of the trials
    that repeat it.
    """

    name: Words
    printed: dict[Words, Words] = Field(default_factory=dict)
    levels: dict[str, Any]


class Drawn(Part):
    """A figure of the paper's that is drawn again: what it ``shows`` of each run, by the levels of
    one factor (``over``) or, without, case by case.
    """

    figure: Words
    shows: Words
    over: Words | None = None

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.shows not in QUANTITIES:
            known = ", ".join(QUANTITIES)
            raise PydanticCustomError(
                WRONG,
                "cannot show `{shows}`: there are {known}",
                {"shows": self.shows, "known": known},
            )
        return self


class Published(Part):
    """The whole file. With ``cases`` the claims are about all trials of the study together, and
    ``run_s`` is how many seconds of a trial are one run of the paper's; without, a trial is one.
    ``short`` is what its short form sets, as ``--set`` does; empty where it takes minutes as it is.
    """

    paper: Paper
    claims: Annotated[list[Claim], Field(min_length=1)]
    cases: list[Printed] = Field(default_factory=list)
    run_s: Annotated[float, Field(ge=1)] | None = None
    short: list[Words] = Field(default_factory=list)
    drawn: list[Drawn] = Field(default_factory=list)

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        there = OVER_CASES if self.cases else MEASURES
        for claim in self.claims:
            if claim.measure not in there:
                what = "is of one run, and this study has" if self.cases else "needs"
                raise PydanticCustomError(
                    WRONG,
                    "measure `{measure}` {what} `cases`",
                    {"measure": claim.measure, "what": what},
                )
        if self.drawn and not self.cases:
            raise PydanticCustomError(WRONG, "`drawn` needs `cases`, whose trials are drawn")
        for figure in self.drawn:
            if figure.over is not None and any(figure.over not in c.levels for c in self.cases):
                raise PydanticCustomError(
                    WRONG,
                    "draws figure {figure} over `{over}`, which is no level of all `cases`",
                    {"figure": figure.figure, "over": figure.over},
                )
        return self


def beside(experiment: Path) -> Path:
    """Return where the published table of an experiment file lies."""
    return experiment.with_name(experiment.name.removesuffix(".toml") + SUFFIX)


def load(path: Path) -> Published:
    """Read a published table; UserError with one sentence when anything is wrong."""
    return read(path, Published, "a study needs what was published beside its experiment file")
