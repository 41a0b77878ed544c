"""The knees of an experiment: ``knee.json`` and ``knee.html`` beside its run folders, and the
terminal's answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from markupsafe import Markup
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tierlab.analysis.knee.search import Knee
from tierlab.analysis.knee.step import Step
from tierlab.analysis.result import Result
from tierlab.report.figures import number, printable, seconds, share
from tierlab.report.frame import environment, part, policy
from tierlab.report.levels import as_written
from tierlab.report.replace import replace

JSON = "knee.json"
NAME = "knee.html"
WIDTH, HEIGHT = 640.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 66.0, 14.0, 14.0, 34.0


class FoundKnee(Result):
    """A knee, the ``levels`` at which it was searched, the trials that showed it, and those of them
    in which the driver was the bottleneck: the knee may be its own then. ``limited`` says why no
    larger load was tried, where a knee that is above them was not reached for that.
    """

    levels: dict[str, Any]
    trials: list[str]
    driver_limited: list[str]
    knee: Knee
    limited: str | None = None
    dollars_per_month: float | None

    @property
    def dollars(self) -> tuple[float, float | None, float] | None:
        """Dollars per user (or request per second) and month at the knee, at the interval's lower
        end (None where that is no load) and at its upper one; None where either is not known.
        """
        found, cost = self.knee, self.dollars_per_month
        if cost is None or found.load is None or found.high is None:
            return None
        return cost / found.load, cost / found.low if found.low else None, cost / found.high


class Knees(Result):
    """All knees of an experiment. ``format`` rises when a key changes its meaning or goes away."""

    format: int = 1
    experiment: str
    question: str
    found: list[FoundKnee]

    @classmethod
    def of(cls, experiment: str, question: str, found: Sequence[FoundKnee]) -> Self:
        """Those that were found so far."""
        return cls(experiment=experiment, question=question, found=list(found))


def sentences(found: FoundKnee) -> Iterator[str]:
    """Say where the knee is, of what, how surely, and what it costs."""
    knee, unit = found.knee, unit_of(found.knee)
    what = " and ".join(bounds(knee)) or "throughput follows the load"
    if knee.load is None:
        yield f"Up to {number(knee.low)} {unit}, {what}: the knee is above that."
        if found.limited is not None:
            yield found.limited
    elif knee.low == 0:
        yield f"Not even at {number(knee.load)} {unit}: {what}."
    else:
        upper = "more than was tried" if knee.high is None else number(knee.high)
        yield (
            f"The knee is at {number(knee.load)} {unit} ({number(knee.low)} to {upper} with 95 %"
            f" confidence): up to there {what}, at {number(knee.throughput_at(knee.load))}"
            " requests/s."
        )
    flat = knee.saturation
    if flat is not None and knee.objective:
        yield (
            f"Throughput stops to follow the load at {number(flat.load)} {unit}"
            f" ({number(flat.low)} to {number(flat.high)}), {number(flat.throughput)} requests/s."
        )
    if (dollars := found.dollars) is not None:
        at, most, least = dollars
        upper = "more" if most is None else number(most)
        yield f"That is {number(at)} dollars a month for each of them ({number(least)} to {upper})."
    if found.driver_limited:
        yield (
            f"In {', '.join(found.driver_limited)} the driver itself was the bottleneck: the knee"
            " may be its own."
        )


def unit_of(knee: Knee) -> str:
    """What load is counted in."""
    return "users" if knee.is_closed else "requests/s offered"


def bounds(knee: Knee) -> Iterator[str]:
    """The objective in words, bound by bound."""
    for key, bound in knee.objective.items():
        if key == "rules":
            yield "the limits of the benchmark's rules that depend on the load are kept"
        elif key == "errors":
            yield f"at most {share(bound)} of the requests fail"
        elif key.endswith("_ns"):
            name = {"mean_ns": "the mean", "max_ns": "the slowest"}.get(
                key, key.removesuffix("_ns")
            )
            yield f"{name} is at most {seconds(bound / 1e9)}"


def show_knee(found: FoundKnee, console: Console) -> None:
    """Print the curve and where its knee is."""
    title = ", ".join(f"{key} = {as_written(value)}" for key, value in found.levels.items())
    table = Table(title=printable(title) or None, title_justify="left", box=SIMPLE)
    for name in (unit_of(found.knee), "requests/s", "p50", "p99", "failed", "trial"):
        table.add_column(name, justify="right")
    for step in found.knee.steps:
        held = found.knee.load is None or step.load <= found.knee.load
        table.add_row(*_cells(step), style="" if held else "yellow")
    console.print(table)
    for sentence in sentences(found):
        console.print(Text(f"  {printable(sentence)}"), soft_wrap=True)


def _cells(step: Step) -> Iterator[str]:
    yield number(step.load)
    yield number(step.throughput)
    yield "-" if step.p50_s is None else seconds(step.p50_s)
    yield "-" if step.p99_s is None else seconds(step.p99_s)
    yield "-" if step.failed is None else share(step.failed)
    yield step.trial


@dataclass(frozen=True)
class Chart:
    """A figure over the load, from zero to ``most_y`` and ``most_x``, with the knee's band."""

    title: str
    most_x: str
    most_y: str
    points: list[tuple[float, float, str]]
    knee: tuple[float, float, float] | None
    limit: tuple[float, str] | None


def write_knees(knees: Knees, folder: Path) -> Path:
    """Write ``knee.json`` and ``knee.html`` into the experiment's folder; return the page's path.

    Raises :class:`UserError` when one cannot be written.
    """
    replace(folder / JSON, knees.model_dump_json(indent=1) + "\n")
    text = (
        environment()
        .get_template("knee.html.j2")
        .render(
            title=f"{knees.experiment}: the knee",
            knees=knees,
            parts=[(each, list(sentences(each)), charts(each.knee)) for each in knees.found],
            unit_of=unit_of,
            style=Markup(part("style.css")),
            policy=policy([]),
        )
    )
    replace(folder / NAME, text)
    return folder / NAME


def charts(knee: Knee) -> list[Chart]:
    """Throughput and response time over the load."""
    p99 = [(step, step.p99_s) for step in knee.steps if step.p99_s is not None]
    bound = knee.objective.get("p99_ns")
    return [
        _chart(knee, "requests/s", [(each, each.throughput) for each in knee.steps], number, None),
        *([_chart(knee, "p99", p99, seconds, bound and bound / 1e9)] if p99 else []),
    ]


def _chart(
    knee: Knee, figure: str, values: Sequence[tuple[Step, float]], write: Any, bound: float | None
) -> Chart:
    most_x = max(step.load for step in knee.steps)
    most_y = max(*(value for _, value in values), 1e-9)

    def x(load: float) -> float:
        return round(LEFT + load / most_x * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - value / most_y * (HEIGHT - TOP - BOTTOM), 1)

    found = None
    if knee.load is not None:
        high = most_x if knee.high is None else knee.high
        found = x(knee.load), x(min(knee.low, most_x)), x(min(high, most_x))
    return Chart(
        title=f"{figure} over {unit_of(knee)}",
        most_x=number(most_x),
        most_y=write(most_y),
        points=[
            (x(step.load), y(value), f"{number(step.load)}: {write(value)}")
            for step, value in values
        ],
        knee=found,
        limit=None if bound is None or bound > most_y else (y(bound), write(bound)),
    )
