"""``tierlab check FILE``: bring a file's system up, send one user through, and say what works."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tierlab import experiment
from tierlab.analysis.checked import checked
from tierlab.analysis.checked_calls import checked_calls
from tierlab.cli.input_notes import say_assumed, say_notes
from tierlab.cli.progress import progress_on
from tierlab.experiment import TrialPlan
from tierlab.experiment.checking import checking
from tierlab.experiment.file import assumptions, load_tables
from tierlab.trial.needs import check_needs
from tierlab.trial.rehearsal import rehearse
from tierlab.values.toml import as_toml

DOES_NOT = 1
WORDS = {True: "works", False: "FAILS", None: "note "}


def check(
    file: Annotated[Path, typer.Argument(help="An experiment file.")],
    *,
    seconds: Annotated[
        int, typer.Option(metavar="N", min=1, max=600, help="How long the user goes through.")
    ] = 5,
) -> None:
    """Bring an experiment's system up, send one user through it, and say what works.

    One for each recording, where there are several. Also which server called which meanwhile,
    beside what the file says of it. The first trial's system; think times and faults are left out,
    and everything is taken down again. No run folder is kept. The exit status is 1 when something
    does not work.
    """
    experiment.load(file)
    say_assumed(assumptions(file))
    asked = experiment.Experiment.from_tables(checking(load_tables(file), seconds), str(file))
    plan = asked.trials()[0]
    say_notes(plan.systems)
    check_needs(plan)
    with (
        tempfile.TemporaryDirectory(prefix="tierlab-check-") as runs,
        progress_on(Console(stderr=True)) as progress,
    ):
        folder, manifest = rehearse(plan, Path(runs), progress)
        calls = checked_calls(manifest, _left_open(plan))
        found = checked(folder.path, manifest, calls)
    for each in found:
        typer.echo(f"{WORDS[each.works]}  {each.sentence}")
    _suggest(file, calls.keys, {each.name for each in plan.systems})
    if any(each.works is False for each in found):
        raise typer.Exit(DOES_NOT)


def _left_open(plan: TrialPlan) -> set[str]:
    """The tiers whose calls the file leaves to be found, by the names that they have in a run."""
    return {
        f"{each.name}.{tier}" if each.name else tier
        for each in plan.systems
        for tier in each.system.application.finds_calls
    }


def _suggest(file: Path, keys: Mapping[str, Mapping[str, object]], systems: set[str]) -> None:
    """Lines that make the file say what was seen."""
    if keys:
        typer.echo(f"\nAs it was seen, {file} would say:")
    for table, lines in keys.items():
        name = table if systems == {""} else table.rpartition(".")[2]
        typer.echo(f"[system.{name}]")
        for key, value in lines.items():
            typer.echo(f"{key} = {as_toml(value)}")
