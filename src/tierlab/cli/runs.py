"""``tierlab runs``: what there is, experiment by experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tierlab.errors import UserError
from tierlab.experiment.problem import shown
from tierlab.report import build
from tierlab.report.diagnosis import cause_name
from tierlab.report.figures import number, printable, seconds, share
from tierlab.report.index import write_index
from tierlab.report.stored import stored_diagnosis, stored_summary
from tierlab.report.trials import Trial, experiments, factors, run_folders, trials
from tierlab.trial.complete import complete

PIPED_WIDTH = 200
"""Columns where the output is no terminal: a line a trial can be searched."""
STYLES = {"done": "green", "failed": "bold red", "interrupted": "yellow", "running": "cyan"}


def list_runs(
    folder: Annotated[
        Path, typer.Argument(help="A folder of runs, or an experiment's in it.")
    ] = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="Print JSON, a line a trial.")] = False,
) -> None:
    """List experiments and their trials: levels, how each ended, figures and findings.

    The same, side by side with bars, is index.html in the folder. A trial that was killed is
    finished first, and one without a report, or with another version's, gets it.
    """
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    found = experiments(folder)
    for run in (each for experiment in found for each in run_folders(experiment)):
        try:
            _complete(run)
        except UserError as error:
            errors.print(str(error), markup=False)
    for experiment in found:
        listed = trials(experiment)
        if json:
            for each in listed:
                typer.echo(each.model_dump_json())
        elif listed:
            console.print(_table(experiment, listed))
    try:
        page = write_index(folder)
    except UserError as error:
        # A folder of somebody else's can be listed all the same.
        errors.print(str(error), markup=False)
    else:
        errors.print(Text(printable(str(page)), style="dim"))


def _complete(run: Path) -> None:
    """Finish a trial that was killed, and have its figures and findings at hand."""
    complete(run)
    if stored_summary(run) is None or stored_diagnosis(run) is None:
        build(run)


def _table(experiment: Path, listed: list[Trial]) -> Table:
    keys = factors(listed)
    table = Table(title=printable(str(experiment)), title_justify="left", box=SIMPLE)
    for name in ("trial", "ended", *_short(keys)):
        table.add_column(printable(name), overflow="fold")
    for name in ("requests/s", "p50", "p99", "very long"):
        table.add_column(name, justify="right")
    table.add_column("findings", overflow="fold")
    for each in listed:
        levels = (
            printable(shown(each.factors[key])) if key in each.factors else "" for key in keys
        )
        table.add_row(
            printable(each.trial),
            Text(each.state, style=STYLES.get(each.state, "")),
            *levels,
            "-" if each.throughput is None else number(each.throughput),
            "-" if each.time is None else seconds(each.time.p50_s),
            "-" if each.time is None else seconds(each.time.p99_s),
            "-" if each.very_long is None else share(each.very_long),
            printable(_findings(each)),
        )
    return table


def _short(keys: Sequence[str]) -> list[str]:
    """The last part of each key, or the whole where two end alike."""
    last = [key.rpartition(".")[2] for key in keys]
    return [short if last.count(short) == 1 else key for key, short in zip(keys, last, strict=True)]


def _findings(trial: Trial) -> str:
    if trial.findings is None:
        return "-"
    said = [f"{cause_name(each.cause)} on {each.subject}" for each in trial.findings]
    return ", ".join(said) or (trial.verdict or "-")
