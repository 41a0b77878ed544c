"""``tierlab run FILE``: run an experiment's trials and show their answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console

from tierlab import experiment
from tierlab.cli.progress import progress_on
from tierlab.cli.sweep import run_trials
from tierlab.experiment import Experiment, System
from tierlab.report import Report, terminal
from tierlab.report.reported import reported
from tierlab.trial.find_calls import leaves_calls_open, with_found_calls

ENVIRONMENTS: tuple[str, ...] = get_args(System.model_fields["environment"].annotation)

Runs = Annotated[Path, typer.Option(help="Where run folders are made.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print figures and findings as JSON, a line a trial.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Run only the trials that are not finished yet.")
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Instead of the file's, as in system.app.soft.threads=50; may be repeated.",
    ),
]


def run(
    file: Annotated[Path, typer.Argument(help="An experiment file; `tierlab init` writes one.")],
    *,
    runs: Runs = Path("runs"),
    json: Json = False,
    environment: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"Instead of the file's: {' or '.join(ENVIRONMENTS)}."),
    ] = None,
    assignments: Assignments = None,
    repeat: Annotated[
        int | None,
        typer.Option(metavar="N", help="Run each combination so often, instead of the file's."),
    ] = None,
    resume: Resume = False,
    find_knee: Annotated[
        bool, typer.Option("--find-knee", help="Search the load at which the objective breaks.")
    ] = False,
) -> None:
    """Run an experiment: every trial from deployment to report.

    --find-knee searches, instead, the highest load at which the file's [objective] holds, or, where
    it has none, at which throughput follows the load: in a few trials whose load rises in steps, up
    to the file's users or rate at first. knee.html beside their run folders shows the curve.

    A trial that fails ends itself, and the others are run; --resume goes on after that, after
    Ctrl-C and after a kill. runs/index.html shows all trials side by side. The exit status is 1
    when a trial misses the file's [objective] or a knee is above all loads that could be tried, 2
    when a trial fails.
    """
    asked = experiment.load(
        file, environment=environment, assignments=assignments or (), repeat=repeat
    )
    asked = found(asked, runs / asked.about.name if resume else None)
    if find_knee:
        from tierlab.cli.knee import find_knees

        find_knees(asked, runs, json, resume=resume)
    else:
        run_experiment(asked, runs, json, resume=resume)


def found(asked: Experiment, before: Path | None) -> Experiment:
    """The experiment with the calls that its file leaves to be found, or that trials in the folder
    ``before`` have.
    """
    if not leaves_calls_open(asked):
        return asked
    said: list[str] = []
    with progress_on(Console(stderr=True)) as progress:
        complete = with_found_calls(asked, progress, said.append, before)
    for each in said:
        typer.echo(each, err=True)
    return complete


def run_experiment(
    asked: Experiment, runs: Path, json: bool, *, resume: bool = False
) -> list[Path]:
    """Run an experiment's trials and show their answers; return their run folders.

    Exits with status 1 when a trial misses the experiment's objective.
    """
    return run_trials(asked, runs, print_json if json else print_answer, resume=resume)


def print_json(made: Report) -> None:
    """Print figures, findings and folder as JSON, in one line."""
    whole = reported(made.summary, made.diagnosis, made.page.parent)
    typer.echo(whole.model_dump_json())


def print_answer(made: Report) -> None:
    """Print the answer for people."""
    terminal.show(made.summary, made.diagnosis, Console(), str(made.page))
