"""``tierlab run FILE``: run an experiment's trials and show their answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console

from tierlab import experiment
from tierlab.analysis.summary import Summary
from tierlab.cli.objectives import shortfalls
from tierlab.cli.progress import progress_on
from tierlab.errors import Interrupted, UserError
from tierlab.experiment import Experiment, System, TrialPlan
from tierlab.report import Report, build, terminal
from tierlab.tables.manifest import Manifest
from tierlab.trial.folder import RunFolder, create
from tierlab.trial.life import run_trial
from tierlab.trial.needs import check_needs
from tierlab.trial.observation_ratio import Outcome, record_ratios
from tierlab.trial.truth import TruthFolder

MISSED = 1
ENVIRONMENTS: tuple[str, ...] = get_args(System.model_fields["environment"].annotation)

Runs = Annotated[Path, typer.Option(help="Where run folders are made.")]
Json = Annotated[bool, typer.Option("--json", help="Print every figure as JSON, a line a trial.")]


def run(
    file: Annotated[Path, typer.Argument(help="An experiment file; `tierlab init` writes one.")],
    runs: Runs = Path("runs"),
    json: Json = False,
    environment: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"Instead of the file's: {' or '.join(ENVIRONMENTS)}."),
    ] = None,
) -> None:
    """Run an experiment: every trial from deployment to report.

    The exit status is 1 when a trial misses the file's [objective], 2 when one fails.
    """
    run_experiment(experiment.load(file, environment=environment), runs, json)


def run_experiment(asked: Experiment, runs: Path, json: bool) -> list[Path]:
    """Run an experiment's trials and show their answers; return their run folders.

    Exits with status 1 when a trial misses the experiment's objective.
    """
    return run_trials(asked, runs, print_json if json else print_answer)


Show = Callable[[Report], None]


def print_json(made: Report) -> None:
    """Print every figure as JSON, in one line."""
    typer.echo(made.summary.model_dump_json())


def print_answer(made: Report) -> None:
    """Print the answer for people."""
    terminal.show(made.summary, made.diagnosis, Console(), str(made.page))


def run_trials(asked: Experiment, runs: Path, show: Show) -> list[Path]:
    """Run an experiment's trials, and show each one's report as soon as it is there."""
    # Progress goes to stderr, so that stdout holds the answer and nothing else.
    errors = Console(stderr=True)
    missed: list[str] = []
    outcomes: list[Outcome] = []
    folders: list[Path] = []
    trials = asked.trials()
    # Of all trials, before the first: what is missing must not spoil the night.
    for plan in trials:
        check_needs(plan)
    try:
        for plan in trials:
            if len(trials) > 1:
                _say(errors, _title(plan, len(trials)))
            folder = create(runs, plan.experiment)
            folders.append(folder.path)
            summary = _trial(plan, folder, show, errors)
            missed += shortfalls(plan.objective, summary)
            if summary.responses is not None:
                outcomes.append(Outcome(plan, folder.path, summary.responses.throughput))
    finally:
        _compare_watched(outcomes, errors)
    for sentence in missed:
        _say(errors, f"objective missed: {sentence}")
    if missed:
        raise typer.Exit(MISSED)
    return folders


def _trial(plan: TrialPlan, folder: RunFolder, show: Show, errors: Console) -> Summary:
    with progress_on(errors) as progress:
        manifest = run_trial(plan, folder, progress)
        progress.stage("report")
        made = _report(folder, manifest)
    show(made)
    if manifest.exit.state == "interrupted":
        raise Interrupted(f"interrupted; what was measured until then is in {folder.path}.")
    if manifest.exit.state == "failed":
        error = manifest.exit.error or f"the trial in {folder.path} failed."
        raise UserError(TruthFolder.of(folder.path).problem() or error)
    return made.summary


def _report(folder: RunFolder, manifest: Manifest) -> Report:
    try:
        return build(folder.path)
    except UserError as error:
        # What failed first is what the user has to mend; this often only follows from it.
        first = f"{manifest.exit.error} " if manifest.exit.error else ""
        raise UserError(f"{first}{error}") from error
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; the trial is complete, and `tierlab report {folder.path}` writes its"
            " report."
        ) from None


def _compare_watched(outcomes: list[Outcome], errors: Console) -> None:
    """Say what watching cost in throughput, and let the reports say it."""
    for folder, ratio in record_ratios(outcomes).items():
        build(folder)
        _say(errors, f"{folder}: {ratio:.1%} of the throughput of the unwatched trials")


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def _title(plan: TrialPlan, count: int) -> str:
    levels = ", ".join(f"{key} = {value}" for key, value in plan.levels.items())
    return f"trial {int(plan.trial)} of {count}: {levels or f'repetition {plan.repetition}'}"
