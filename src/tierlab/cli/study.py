"""``tierlab study NAME``: repeat what a paper published, and put both side by side."""

from __future__ import annotations

import json as encoder
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tierlab import experiment
from tierlab.cli.run import Assignments, Json, Runs, print_answer
from tierlab.cli.sweep import run_trials
from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.installation import STUDIES
from tierlab.report import Report, build
from tierlab.report.study import NAME, build_cases, build_study, show
from tierlab.studies.published import SUFFIX, Published, beside, load
from tierlab.trial.complete import complete


def study(
    name: Annotated[
        str | None,
        typer.Argument(help="A study, such as transient-events, or an experiment file."),
    ] = None,
    runs: Runs = Path("runs"),
    json: Json = False,
    of: Annotated[
        Path | None,
        typer.Option(
            help="Compare this run folder (or a study's, with its trials); run nothing.",
            metavar="RUN",
        ),
    ] = None,
    assignments: Assignments = None,
) -> None:
    """Run a study: what a paper published and what is measured here, side by side.

    Without a name, the studies are listed.
    Each trial ends in study.html in its run folder; a study of several cases ends in one for all of
    its trials there, earlier ones too. That a claim differs is an answer, status 0. With --set
    a study is run in another form, such as a shorter one.
    """
    if name is None:
        _list(json)
        return
    file = find(name)
    published = load(beside(file))
    asked = None if of else experiment.load(file, assignments=assignments or ())
    if published.cases:
        _study_cases(asked, published, runs, of, json)
        return
    shown = _printing(published, json)
    if asked is not None:
        run_trials(asked, runs, shown)
        return
    assert of is not None
    complete(of)
    shown(build(of))


def _printing(published: Published, json: bool) -> Callable[[Report], None]:
    def shown(made: Report) -> None:
        comparison = build_study(made, published)
        if json:
            typer.echo(comparison.model_dump_json())
            return
        print_answer(made)
        show(comparison, Console(), str(made.page.with_name(NAME)))

    return shown


def _study_cases(
    asked: Experiment | None, published: Published, runs: Path, of: Path | None, json: bool
) -> None:
    if asked is not None:
        run_trials(asked, runs, _say_nothing if json else print_answer)
        of = runs / asked.about.name
    assert of is not None
    for folder in sorted(of.glob("*/")):
        complete(folder)
    comparison = build_cases(of, published)
    if json:
        typer.echo(comparison.model_dump_json())
        return
    show(comparison, Console(), str(of / NAME))


def _list(json: bool) -> None:
    """Say which studies there are, what each asks and what was published."""
    listed = []
    for name in names():
        file = find(name)
        paper = load(beside(file)).paper
        asked = experiment.load(file)
        listed.append((name, asked.trials()[0].question, len(asked.trials()), paper))
    if json:
        for name, question, trials, paper in listed:
            said = {"study": name, "question": question, "trials": trials}
            typer.echo(encoder.dumps(said | {"paper": paper.model_dump()}))
        return
    console = Console(highlight=False, soft_wrap=True)
    for name, question, trials, paper in listed:
        console.print(Text(name, style="bold"))
        count = f"{trials} trials" if trials > 1 else "1 trial"
        console.print(Text(f"  {question} ({count})"))
        console.print(Text(f"  {paper.author}: {paper.title}; {paper.where}", style="dim"))


def _say_nothing(_made: Report) -> None:
    """Every trial's figures are in the comparison."""


def find(name: str) -> Path:
    """Return a study's experiment file; UserError that names the studies when there is none."""
    if name.endswith(".toml"):
        return Path(name)
    file = STUDIES / f"{name}.toml"
    if not file.is_file():
        known = names()
        raise UserError(
            f"there is no study `{name}`: there are {', '.join(known) or 'none'},"
            " and any experiment file (*.toml) with its published table beside it."
        )
    return file


def names() -> list[str]:
    """Name all studies that come with Tierlab."""
    return sorted(each.name.removesuffix(SUFFIX) for each in STUDIES.glob(f"*{SUFFIX}"))
