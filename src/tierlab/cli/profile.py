"""``tierlab profile RUN``: in which programs and functions the time went, or events happened."""

from __future__ import annotations

import json as encoder
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tierlab.analysis.observed import observe
from tierlab.analysis.profiled import profiled
from tierlab.analysis.query import Connection
from tierlab.analysis.resources.profile import TOP, chosen
from tierlab.analysis.resources.profile import profile as profile_of
from tierlab.analysis.resources.profile_difference import profile_differences
from tierlab.analysis.span import Span
from tierlab.errors import UserError
from tierlab.report.profile import show, show_differences, trial_name
from tierlab.tables.run import Run
from tierlab.trial.complete import complete


def profile(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/quickstart/001.")],
    *,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="So many lines of each.")
    ] = TOP,
    domain: Annotated[
        list[str] | None,
        typer.Option("--domain", metavar="NAME", help="Only this server's; may be repeated."),
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option("--event", metavar="NAME", help="Only this event; may be repeated."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="RUN", help="Hold it against this earlier run."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show each server's heaviest programs and functions, during the runtime; with another run,
    which of them take more or less for a request than there.
    """
    db, span = _profiled(run)
    if against is not None:
        differences = profile_differences(
            _profiled(against), (db, span), top, event or (), domain or ()
        )
        if json:
            typer.echo(encoder.dumps([each.model_dump() for each in differences], indent=2))
        else:
            show_differences((trial_name(against), trial_name(run)), differences, Console())
        return
    found = profile_of(db, span, top)
    if not found:
        raise UserError(_why_none(Run(run)))
    shown = chosen(found, event or (), domain or ())
    if json:
        typer.echo(encoder.dumps([each.model_dump() for each in shown], indent=2))
    else:
        show(shown, Console())


def _why_none(run: Run) -> str:
    """Return why a run has no samples in its runtime, and what to do: a sentence."""
    with closing(run.connect()) as db:
        query = "SELECT count(*) FROM counters WHERE dt_ns = 0"
        ((samples,),) = db.execute(query).fetchall()
    if samples:
        return (
            f"{run.path} has {samples} samples, and none in its runtime: import them with their"
            " times (`tierlab import perf --first-at`), or into the run during which they were"
            " recorded."
        )
    # Events may have been counted where nothing could be sampled.
    reason = run.manifest.not_measured.get("counters", "none was taken").removesuffix(".")
    return f"{run.path} has no sample in its runtime ({reason}): profile it while it runs."


def _profiled(run: Path) -> tuple[Connection, Span]:
    complete(run)
    return profiled(observe(Run(run)))
