"""``tierlab compare A B``: do trials differ, by how much, and how sure is that?"""

from __future__ import annotations

import json as encoder
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tierlab.analysis.comparing.asked import same_load
from tierlab.analysis.comparing.beside import beside
from tierlab.analysis.comparing.blocks import Blocks, blocks
from tierlab.analysis.comparing.compare import FEWEST_BLOCKS, LEAST, compare
from tierlab.analysis.comparing.ground import Unlike, unlike
from tierlab.analysis.comparing.groups import Group, groups
from tierlab.analysis.comparing.instability import Instability, instability
from tierlab.analysis.observed import observe
from tierlab.errors import UserError
from tierlab.report import differences
from tierlab.report.ground import warning
from tierlab.tables.run import Run
from tierlab.trial.complete import complete


def compare_runs(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders or experiments' folders; the first is the baseline."),
    ],
    least: Annotated[
        float,
        typer.Option(min=0, max=1, help="The smallest difference that is claimed, as a share."),
    ] = LEAST,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON, a line for each group.")
    ] = False,
) -> None:
    """Say in what groups of trials differ, with intervals and a plain verdict.

    Of a single folder, its combinations of levels are compared. "Within noise" is an answer.
    """
    for folder in (each for run in runs for each in (run, *run.glob("*/"))):
        complete(folder)
    found = groups(runs)
    cut = _cut(found)
    console = Console(highlight=False)
    others = [
        [told for run in group.runs if (told := _told(run)) is not None] for group in beside(found)
    ]
    compared = compare([(cut[0], trials) for trials in cut[1:]], least, others)
    for group, trials, differs in zip(found[1:], cut[1:], compared, strict=True):
        names = (found[0].name, group.name)
        apart = _apart(found[0], group)
        if json:
            said = {
                "groups": names,
                "differences": [each.model_dump() for each in differs],
                "instability": [_instability(each).model_dump() for each in (cut[0], trials)],
                "verdict": differences.verdict(names, differs),
                "lacks": differences.lacks(differs, least),
                "ground": [each.model_dump() for each in apart],
                "warning": warning(apart),
            }
            typer.echo(encoder.dumps(said))
        else:
            notes = (differences.lacks(differs, least), warning(apart))
            differences.show(names, differs, notes, console)
    if not json:
        _show_instability(found, cut, console)


def _apart(first: Group, second: Group) -> list[Unlike]:
    """What of the ground sets them apart."""
    groups = zip(differences.ORDER, (first, second), strict=True)
    return unlike([(which, [run.manifest for run in group.runs]) for which, group in groups])


def _show_instability(
    found: Sequence[Group], cut: Sequence[Sequence[Blocks]], console: Console
) -> None:
    each = [_instability(trials) for trials in cut]
    differences.show_instability([group.name for group in found], each, console)


def _instability(trials: Sequence[Blocks]) -> Instability:
    return instability([float(t.done.sum()) / (t.done.size * t.seconds) for t in trials])


def _cut(found: Sequence[Group]) -> list[list[Blocks]]:
    """Every trial in blocks. Under another load the driver's work is another, and no reference."""
    cut = [[_blocks(run) for run in group.runs] for group in found]
    first, *others = (run.manifest for group in found for run in group.runs)
    if all(same_load(first, each) for each in others):
        return cut
    return [[replace(trial, driver_s=None) for trial in trials] for trials in cut]


def _told(run: Run) -> Blocks | None:
    """A trial beside those compared; None where it tells nothing of how they vary."""
    try:
        return _blocks(run)
    except UserError:
        return None


def _blocks(run: Run) -> Blocks:
    observed = observe(run)
    if observed.measured is None or not run.has("requests"):
        raise UserError(f"{run.path}: saw no requests, so there is nothing to compare.")
    cut = blocks(observed.db, observed.measured)
    if not cut.done.any():
        raise UserError(
            f"{run.path}: not one request ended well; `tierlab report {run.path}` says more."
        )
    if cut.done.size < FEWEST_BLOCKS:
        raise UserError(
            f"{run.path}: was measured for {observed.measured.seconds:.1f} s, and a comparison"
            f" needs {FEWEST_BLOCKS} s; take a longer load.phases.runtime."
        )
    return cut
