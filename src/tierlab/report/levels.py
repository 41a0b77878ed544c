"""A factor's levels against throughput and response times: a dot a trial, a line by the means."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tierlab.report.figures import number, seconds
from tierlab.report.trials import Trial, factors

WIDTH, HEIGHT = 300.0, 150.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 12.0, 26.0
MOST_LEVELS = 12
LONGEST = 14
"""Characters of a level below the chart; more are cut."""


@dataclass(frozen=True)
class Point:
    """A trial's place in the chart, and its figure in words."""

    x: float
    y: float
    words: str


@dataclass(frozen=True)
class Strip:
    """The chart of one figure by one factor, from zero to ``most``."""

    factor: str
    figure: str
    most: str
    levels: list[tuple[float, str]]
    points: list[Point]
    means: list[tuple[float, float]]


def strips(of: Sequence[Trial]) -> list[Strip]:
    """Return the charts of every factor that has several levels, and not too many to tell apart."""
    seen = [each for each in of if each.state == "done" and each.throughput is not None]
    found = []
    for factor in factors(seen):
        by_level: dict[str, list[Trial]] = {}
        for each in sorted(seen, key=lambda each: _order(each.factors.get(factor))):
            by_level.setdefault(as_written(each.factors.get(factor)), []).append(each)
        if 1 < len(by_level) <= MOST_LEVELS:
            found += [_strip(factor, figure, by_level) for figure in ("requests/s", "p50", "p99")]
    return [each for each in found if each.points]


def _order(level: Any) -> tuple[int, float]:
    """Numbers by size; anything else stays in the order of the trials."""
    is_number = isinstance(level, int | float) and not isinstance(level, bool)
    return (0, float(level)) if is_number else (1, 0.0)


def _strip(factor: str, figure: str, by_level: dict[str, list[Trial]]) -> Strip:
    values = {
        level: [(each, value) for each in of if (value := _figure(each, figure)) is not None]
        for level, of in by_level.items()
    }
    most = max((value for of in values.values() for _, value in of), default=0.0) or 1.0
    write = number if figure == "requests/s" else seconds
    step = (WIDTH - LEFT - RIGHT) / len(values)
    places = {level: LEFT + step * (index + 0.5) for index, level in enumerate(values)}
    return Strip(
        factor=factor,
        figure=figure,
        most=write(most),
        levels=[(x, _cut(level)) for level, x in places.items()],
        points=[
            Point(places[level], _y(value, most), f"{each.trial}: {level}, {write(value)}")
            for level, of in values.items()
            for each, value in of
        ],
        means=[
            (places[level], _y(fmean(value for _, value in of), most))
            for level, of in values.items()
            if of
        ],
    )


def _figure(trial: Trial, figure: str) -> float | None:
    if figure == "requests/s":
        return trial.throughput
    if trial.time is None:
        return None
    return trial.time.p50_s if figure == "p50" else trial.time.p99_s


def _y(value: float, most: float) -> float:
    return round(HEIGHT - BOTTOM - value / most * (HEIGHT - TOP - BOTTOM), 1)


def _cut(level: str) -> str:
    return level if len(level) <= LONGEST else f"{level[: LONGEST - 1]}…"


def as_written(level: Any) -> str:
    """Write a level for people: text as it is, anything else as in the file.

    >>> as_written("native"), as_written(50), as_written(None)
    ('native', '50', '')
    """
    if level is None:
        return ""
    return level if isinstance(level, str) else json.dumps(level, ensure_ascii=False)
