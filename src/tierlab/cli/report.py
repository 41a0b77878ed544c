"""``tierlab report RUN``: the answer of a trial that was run before."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tierlab.analysis.observed import observe
from tierlab.analysis.summary import summarise
from tierlab.diagnosis import diagnose
from tierlab.errors import UserError
from tierlab.report import build, terminal
from tierlab.report.reported import reported
from tierlab.tables.run import Run
from tierlab.trial.complete import complete


def report(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/quickstart/001.")],
    *,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="RUN", help="Hold its profile against this earlier run's."
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print figures and findings as JSON.")
    ] = False,
    open_: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:
    """Say how fast a trial was and where the time went; write its report.html.

    A trial that was killed is finished first: what its agents wrote becomes tables.
    """
    complete(run)
    if against is not None:
        if json:
            raise UserError(
                "--against is the page's: leave --json, or have `tierlab profile RUN --against RUN"
                " --json` print it."
            )
        complete(against)
    if json:
        observed = observe(Run(run))
        whole = reported(summarise(observed), diagnose(observed), run)
        typer.echo(whole.model_dump_json(indent=2))
        return
    made = build(run, against)
    terminal.show(made.summary, made.diagnosis, Console(), str(made.page))
    if open_:
        webbrowser.open(made.page.resolve().as_uri())
