"""``tierlab study NAME``: repeat what a paper published, and put both side by side."""

from __future__ import annotations

import json as encoder
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tierlab import experiment
from tierlab.cli.run import Assignments, Json, Resume, Runs, print_answer
from tierlab.cli.sweep import run_trials
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.installation import STUDIES
from tierlab.report import Report, build
from tierlab.report.study import NAME, build_cases, build_study, show
from tierlab.studies.published import SUFFIX, Published, beside, load
from tierlab.studies.records import kept, minutes, short_minutes
from tierlab.trial.complete import complete

RUNS = Path("runs")


def study(
    name: Annotated[
        str | None,
        typer.Argument(help="A study, such as transient-events, or an experiment file."),
    ] = None,
    *,
    runs: Runs = RUNS,
    json: Json = False,
    of: Annotated[
        Path | None,
        typer.Option(
            help="Compare this run folder (or a study's, with its trials); run nothing.",
            metavar="RUN",
        ),
    ] = None,
    assignments: Assignments = None,
    short: Annotated[
        bool,
        typer.Option("--short", help="Run its short form, of minutes, in a folder of its own."),
    ] = False,
    resume: Resume = False,
) -> None:
    """Run a study: what a paper published and what is measured here, side by side.

    Without a name, the studies are listed.
    Each trial ends in study.html in its run folder; a study of several cases ends in one for all of
    its trials there, earlier ones too. That a claim differs is an answer, status 0. With --set
    a study is run in another form. --resume goes on after a failure, Ctrl-C or a kill.
    """
    if name is None:
        _list(json)
        return
    file = find(name)
    published = load(beside(file))
    if of is not None:
        _refuse_beside_of(set=bool(assignments), short=short, resume=resume, runs=runs != RUNS)
    asked = None if of else _asked(file, published, short, assignments or ())
    if published.cases:
        _study_cases(asked, published, runs, of, json, resume=resume)
        return
    shown = _printing(published, json)
    if asked is not None:
        for folder in run_trials(asked, runs, shown, resume=resume):
            # Of a trial that was broken off as soon as it was there.
            if not (folder / NAME).exists():
                shown(build(folder))
        return
    assert of is not None
    complete(of)
    shown(build(of))


def _refuse_beside_of(**given: bool) -> None:
    """Raise `UserError` if any option is given that says what to run, by its name."""
    if said := [name for name, is_given in given.items() if is_given]:
        raise UserError(
            f"study: --{said[0]} does not go with --of, which compares what was run before and runs"
            " nothing; leave one of them out."
        )


def _asked(file: Path, published: Published, short: bool, assignments: Sequence[str]) -> Experiment:
    form = shortened(experiment.load(file).about.name, published) if short else []
    return experiment.load(file, assignments=[*form, *assignments])


def shortened(name: str, published: Published) -> list[str]:
    """What the short form of a study of that name sets; nothing where it takes minutes as it is."""
    if not published.short:
        return []
    # Trials of another form are no part of what is measured together.
    return [f'experiment.name="{name}-short"', *published.short]


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
    asked: Experiment | None,
    published: Published,
    runs: Path,
    of: Path | None,
    json: bool,
    *,
    resume: bool,
) -> None:
    if asked is not None:
        run_trials(asked, runs, _say_nothing if json else print_answer, resume=resume)
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
    """Say which studies there are, what each asks, how long it took, and what was published."""
    console = Console(highlight=False, soft_wrap=True)
    for name in names():
        file = find(name)
        published = load(beside(file))
        paper, short = published.paper, shortened(name, published)
        trials = experiment.load(file).trials()
        question, runs = trials[0].question, kept(file)
        took, shorter_took = minutes(runs), short_minutes(runs)
        phases = _phases_minutes(trials)
        shorter = experiment.load(file, assignments=short).trials() if short else []
        if json:
            said: dict[str, object] = {
                "study": name,
                "question": question,
                "trials": len(trials),
                "minutes": took,
                "phases_minutes": round(phases, 1),
                "short": {
                    "trials": len(shorter),
                    "minutes": shorter_took,
                    "phases_minutes": round(_phases_minutes(shorter), 1),
                }
                if short
                else None,
                "paper": paper.model_dump(),
            }
            typer.echo(encoder.dumps(said))
            continue
        time = _time(phases, took)
        console.print(Text(name, style="bold"))
        if short:
            of = _time(_phases_minutes(shorter), shorter_took)
            time += f"; --short: {_trials(shorter)}, {of}"
        console.print(Text(f"  {question} ({_trials(trials)}, {time})"))
        console.print(Text(f"  {paper.author}: {paper.title}; {paper.where}", style="dim"))


def _time(phases: float, took: float | None) -> str:
    """How long it takes, in minutes: of load, and in all where that was noted."""
    if took is None:
        return f"{phases:.1f} minutes of load; how long it takes in all was not noted"
    return f"took some {took:g} minutes where it was measured"


def _trials(trials: Sequence[TrialPlan]) -> str:
    return f"{len(trials)} trials" if len(trials) > 1 else "1 trial"


def _phases_minutes(trials: Sequence[TrialPlan]) -> float:
    return sum(trial.load.phases.total_ns for trial in trials) / 60e9


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
