"""``tierlab profile RUN``: in which programs and functions the time went, or events happened."""

from __future__ import annotations

import json as encoder
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tierlab.analysis.observed import observe
from tierlab.analysis.query import Connection
from tierlab.analysis.resources.profile import TOP, chosen
from tierlab.analysis.resources.profile import profile as profiled
from tierlab.analysis.resources.profile_difference import profile_differences
from tierlab.analysis.span import Span
from tierlab.errors import UserError
from tierlab.report.profile import show, show_differences
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
            show_differences((_short(against), _short(run)), differences, Console())
        return
    found = profiled(db, span, top)
    if not found:
        raise UserError(f"{run} has no sample in its runtime: profile it while it runs.")
    shown = chosen(found, event or (), domain or ())
    if json:
        typer.echo(encoder.dumps([each.model_dump() for each in shown], indent=2))
    else:
        show(shown, Console())


def _short(run: Path) -> str:
    """A run's folder and its experiment's, which tell it apart."""
    return "/".join(run.resolve().parts[-2:])


def _profiled(run: Path) -> tuple[Connection, Span]:
    """The tables of a run that has a profile, and what its figures cover."""
    complete(run)
    opened = Run(run)
    if not opened.has("counters"):
        reason = opened.manifest.not_measured.get("counters", "none was asked for")
        raise UserError(
            f"{run} has no profile ({reason}): say observe.profile in its experiment, or bring one"
            " in with `tierlab import perf`."
        )
    observed = observe(opened)
    if observed.measured is None:
        raise UserError(f"{run} has recorded nothing in its runtime.")
    return observed.db, observed.measured
