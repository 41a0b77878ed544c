"""``tierlab check FILE``: bring a file's system up, send one user through, and say what works."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tierlab import experiment
from tierlab.analysis.checked import checked
from tierlab.cli.progress import progress_on
from tierlab.errors import Interrupted, UserError
from tierlab.experiment import TrialPlan
from tierlab.experiment.checking import checking
from tierlab.experiment.file import assumptions, load_tables
from tierlab.tables.folder import create
from tierlab.trial.life import run_trial
from tierlab.trial.needs import check_needs

DOES_NOT = 1


def check(
    file: Annotated[Path, typer.Argument(help="An experiment file.")],
    *,
    seconds: Annotated[
        int, typer.Option(metavar="N", min=1, max=600, help="How long the user goes through.")
    ] = 5,
) -> None:
    """Bring an experiment's system up, send one user through it, and say what works.

    The first trial's system; think times and faults are left out, and everything is taken down
    again. No run folder is kept. The exit status is 1 when something does not work.
    """
    experiment.load(file)
    for each in assumptions(file):
        typer.echo(f"takes  {each}.")
    asked = experiment.Experiment.from_tables(checking(load_tables(file), seconds), str(file))
    plan = asked.trials()[0]
    check_needs(plan)
    with tempfile.TemporaryDirectory(prefix="tierlab-check-") as runs:
        works = _lived(plan, Path(runs))
    if not works:
        raise typer.Exit(DOES_NOT)


def _lived(plan: TrialPlan, runs: Path) -> bool:
    """Run the trial, and say what worked; whether all did."""
    folder = create(runs, plan.experiment)
    with progress_on(Console(stderr=True)) as progress:
        manifest = run_trial(plan, folder, progress)
    if manifest.exit.state == "interrupted":
        raise Interrupted("interrupted; everything is taken down.")
    if manifest.exit.state == "failed":
        raise UserError(manifest.exit.error or "the system did not live to the end of the check.")
    found = checked(folder.path, manifest)
    for each in found:
        typer.echo(f"{'works' if each.works else 'FAILS'}  {each.sentence}")
    return all(each.works for each in found)
