"""A paper's figures drawn again from a study's trials: a dot is a run.

A line goes through the runs of a case in the order of time or, over a factor's levels, through
their means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from tierlab.report.colours import series
from tierlab.report.figures import amount, number, seconds
from tierlab.studies.cases import Cases
from tierlab.studies.drawn import QUANTITIES, Line, by_case, by_level
from tierlab.studies.published import Drawn, Published

LEFT, RIGHT, TOP, BOTTOM = 72.0, 12.0, 12.0, 26.0
SLANTED = 92.0
"""Room below for long labels, which are slanted."""
HEIGHT = 170.0
"""Without the labels."""
NARROW, WIDE = 320.0, 1000.0
LETTER = 6.5
"""Width of one in a label."""
STAGE = 0.7
"""Share of a place's width that its runs stand on."""


@dataclass(frozen=True)
class Dot:
    """A run's value, and where it stands."""

    x: float
    y: float
    words: str


@dataclass(frozen=True)
class DrawnLine:
    """One line and its colour, a name in the style sheet."""

    name: str
    colour: str
    dots: list[Dot]
    paths: list[list[tuple[float, float]]]


@dataclass(frozen=True)
class CaseChart:
    """A figure from zero to ``most``, with a label below each place."""

    figure: str
    shows: str
    unit: str
    over: str | None
    width: float
    height: float
    slanted: bool
    most: str
    labels: list[tuple[float, str]]
    lines: list[DrawnLine]

    @property
    def floor(self) -> float:
        """Where zero is."""
        return TOP + HEIGHT


def case_charts(cases: Cases, published: Published) -> list[CaseChart]:
    """Draw what the published table asks for and the trials have."""
    found = (_chart(cases, each) for each in published.drawn)
    return [each for each in found if any(line.dots for line in each.lines)]


def _chart(cases: Cases, asked: Drawn) -> CaseChart:
    quantity = QUANTITIES[asked.shows]
    lines = (
        by_case(cases, quantity) if asked.over is None else by_level(cases, quantity, asked.over)
    )
    places = list(dict.fromkeys(place for line in lines for place in line.values))
    width = WIDE if asked.over is None else NARROW
    step = (width - LEFT - RIGHT) / max(1, len(places))
    slanted = any(len(place) * LETTER > step for place in places)
    x = {place: LEFT + step * (index + 0.5) for index, place in enumerate(places)}
    values = [value for line in lines for each in line.values.values() for value in each]
    most = max(values, default=0.0) or 1.0
    scale = _Scale(x, step * STAGE if asked.over is None else 0.0, most, quantity.unit)
    return CaseChart(
        figure=asked.figure,
        shows=asked.shows,
        unit="" if quantity.unit == "s" else quantity.unit,
        over=asked.over,
        width=width,
        height=TOP + HEIGHT + (SLANTED if slanted else BOTTOM),
        slanted=slanted,
        most=seconds(most) if quantity.unit == "s" else number(most),
        labels=[(at, place) for place, at in x.items()],
        lines=[_line(line, index, scale) for index, line in enumerate(lines)],
    )


@dataclass(frozen=True)
class _Scale:
    """Where values stand: runs of a place beside each other over ``stage``, in order of time."""

    x: dict[str, float]
    stage: float
    most: float
    unit: str

    def dots(self, place: str, values: Sequence[float], name: str) -> list[Dot]:
        apart = self.stage / max(1, len(values) - 1)
        first = self.x[place] - (self.stage / 2 if len(values) > 1 else 0.0)
        words = f"{place}: " if not name else f"{name}, {place}: "
        return [
            Dot(
                round(first + apart * index, 1),
                self.y(value),
                f"{words}{_words(value, self.unit)}",
            )
            for index, value in enumerate(values)
        ]

    def y(self, value: float) -> float:
        return round(TOP + HEIGHT * (1 - value / self.most), 1)


def _line(line: Line, index: int, scale: _Scale) -> DrawnLine:
    colour, _ = series(index)
    there = {place: values for place, values in line.values.items() if values}
    dots = {place: scale.dots(place, values, line.name) for place, values in there.items()}
    through = (
        [[(dot.x, dot.y) for dot in each] for each in dots.values()]
        if scale.stage
        else [[(scale.x[place], scale.y(fmean(values))) for place, values in there.items()]]
    )
    return DrawnLine(
        name=line.name,
        colour=colour,
        dots=[dot for each in dots.values() for dot in each],
        paths=[each for each in through if len(each) > 1],
    )


def _words(value: float, unit: str) -> str:
    return seconds(value) if unit == "s" else amount(value, unit)
