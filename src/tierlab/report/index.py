"""``index.html`` in a folder of runs: every experiment's trials side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from tierlab.report.figures import number, seconds
from tierlab.report.frame import environment, part, policy
from tierlab.report.levels import Strip, as_written, strips
from tierlab.report.replace import replace
from tierlab.report.trials import Trial, experiments, factors, trials

NAME = "index.html"


@dataclass(frozen=True)
class Bar:
    """A figure as text, and its length in percent of the experiment's greatest."""

    text: str
    percent: float


@dataclass(frozen=True)
class Row:
    """A trial: its report's address from the page, its level of each factor, and its bars."""

    trial: Trial
    href: str | None
    levels: list[str]
    bars: list[Bar | None]


@dataclass(frozen=True)
class Section:
    """An experiment as the page shows it."""

    name: str
    question: str | None
    environments: list[str]
    newest_ns: int
    done: int
    factors: list[str]
    rows: list[Row]
    strips: list[Strip]


def write_index(folder: Path) -> Path:
    """Write the page of a folder of runs, or of one experiment's, and return where it is.

    Raises :class:`UserError` when there is no trial or the page cannot be written.
    """
    listed = [each for each in map(trials, experiments(folder)) if each]
    sections = [_section(each, folder) for each in listed]
    text = (
        environment()
        .get_template("index.html.j2")
        .render(
            title=f"{folder.resolve().name}: trials side by side",
            sections=sorted(sections, key=lambda each: -each.newest_ns),
            style=Markup(part("style.css")),
            policy=policy([]),
        )
    )
    replace(folder / NAME, text)
    return folder / NAME


def _section(of: Sequence[Trial], folder: Path) -> Section:
    keys = factors(of)
    bars = [
        _bars(of, lambda each: each.throughput, number),
        _bars(of, lambda each: None if each.time is None else each.time.p50_s, seconds),
        _bars(of, lambda each: None if each.time is None else each.time.p99_s, seconds),
    ]
    rows = [
        Row(
            trial=each,
            href=_href(each, folder),
            levels=[as_written(each.factors[key]) if key in each.factors else "" for key in keys],
            bars=[column[index] for column in bars],
        )
        for index, each in enumerate(of)
    ]
    return Section(
        name=of[-1].experiment,
        question=of[-1].question,
        environments=sorted({each.environment for each in of}),
        newest_ns=max(each.created_ns for each in of),
        done=sum(each.state == "done" for each in of),
        factors=keys,
        rows=rows,
        strips=strips(of),
    )


def _bars(
    of: Sequence[Trial], figure: Callable[[Trial], float | None], write: Callable[[float], str]
) -> list[Bar | None]:
    values = [figure(each) for each in of]
    most = max((each for each in values if each is not None), default=0.0) or 1.0
    return [
        None if each is None else Bar(write(each), round(100 * each / most, 1)) for each in values
    ]


def _href(trial: Trial, folder: Path) -> str | None:
    report = Path(trial.folder) / "report.html"
    return report.relative_to(folder).as_posix() if report.exists() else None
