"""``tierlab diagnose RUN``: why requests took long in a trial that was run before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tierlab.analysis.observed import observe
from tierlab.diagnosis import diagnose as diagnosis_of
from tierlab.report import diagnosis
from tierlab.report.stored import store_diagnosis
from tierlab.tables.folder import FINDINGS
from tierlab.tables.run import Run
from tierlab.trial.complete import complete


def diagnose(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/quickstart/001.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say why some requests took long: what, when, through which tiers, how sure, what to change.

    Writes findings.json into the run folder. Finding nothing abnormal is an answer, status 0.
    """
    complete(run)
    found = diagnosis_of(observe(Run(run)))
    store_diagnosis(found, run)
    if json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        diagnosis.show(found, Console(), str(run / FINDINGS))
