"""``tierlab import``: what other tools have measured, into a run folder's tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from tierlab.errors import UserError
from tierlab.exchange.fit import Fit, instant
from tierlab.exchange.opreport import counters_of, read_opreport
from tierlab.exchange.perf_data import read_perf
from tierlab.exchange.perf_rows import PerfRows
from tierlab.tables.profile import add_profile, next_stack
from tierlab.tables.rows import write_rows
from tierlab.tables.run import Run
from tierlab.trial.complete import complete

import_ = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Put what other tools have measured into a run folder.",
    no_args_is_help=True,
)

Into = Annotated[
    Path, typer.Option("--into", metavar="RUN", help="The run folder, such as runs/quickstart/001.")
]

Domain = Annotated[
    str, typer.Option(metavar="NAME", help="Whose processes it shows: a server, or host.")
]


@import_.callback()
def about() -> None:
    """Put what other tools have measured into a run folder."""


@import_.command()
def perf(
    file: Annotated[Path, typer.Argument(help="What `perf record` or `perf script` has written.")],
    into: Into,
    domain: Domain = "host",
    first_at: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S"],
            help="When its first sample was taken (UTC), whatever the file's own clock says.",
        ),
    ] = None,
) -> None:
    """Import a profile of perf's: each sample becomes a row of `counters`, with its stack.

    What the run has of the same events in the same domain is replaced.
    """
    complete(into)
    run, fit = Run(into), Fit(Run(into).manifest.phases)
    made = PerfRows({}, domain, first_ns=_ns(first_at), first_stack=next_stack(into))
    rows = fit.watched(made.counters(read_perf(file), str(file)))

    def notes() -> list[str]:
        said = made.not_understood.notes(str(file), made.samples)
        if made.lost:
            said.append(f"{file}: perf had no room for {made.lost} events, and lost them.")
        if made.overruled_ns is not None and first_at is not None:
            said.append(
                f"{file}: its first sample was taken at {instant(made.overruled_ns)} UTC by its own"
                f" clock; --first-at overrules that."
            )
        return [*said, *filter(None, [fit.note(str(file))])]

    count = _add(run, file, rows, notes, made.stack_rows)
    run.manifest.observation.summaries[f"import {file.name}"] = {
        "samples": count,
        "lost": made.lost,
        "samples_not_understood": made.not_understood.samples.count,
        "lines_not_understood": made.not_understood.lines.count,
    }
    run.manifest.write(run.path)
    typer.echo(f"{count} samples: tierlab profile {into}", err=True)


@import_.command()
def opreport(
    file: Annotated[Path, typer.Argument(help="What `opreport --symbols` has printed.")],
    into: Into,
    domain: Domain = "host",
) -> None:
    """Import a table of OProfile's: what was counted of each function in the whole runtime.

    What the run has of the same events in the same domain is replaced.
    """
    complete(into)
    run = Run(into)
    runtime = run.manifest.phase("runtime")
    if runtime is None:
        raise UserError(f"{into} came to no end of its runtime, whose length the table needs.")
    table = read_opreport(file)
    rows = counters_of(table.lines, runtime, domain)
    count = _add(run, file, rows, lambda: table.notes(str(file)))
    typer.echo(f"{count} functions: tierlab profile {into}", err=True)


def _add(
    run: Run,
    file: Path,
    rows: Iterable[Mapping[str, Any]],
    notes: Callable[[], list[str]],
    stacks: Callable[[], Iterable[Mapping[str, Any]]] = tuple,
) -> int:
    """Add rows of `counters`, and the stacks that there are after them; return how many rows they
    were. The notes are printed, and kept in the manifest for the report.
    """
    with tempfile.TemporaryDirectory(prefix="tierlab-import-") as folder:
        streams = Path(folder)
        count = write_rows(streams / "counters.arrows", "counters", rows)
        if not count:
            raise UserError(f"{file} has no sample: record while something runs.")
        said = notes()
        write_rows(streams / "stacks.arrows", "stacks", stacks())
        add_profile(streams, run.path, run.manifest.host_name)
    _keep(run, file, said)
    for note in said:
        typer.echo(f"note   {note}", err=True)
    return count


def _keep(run: Run, file: Path, notes: list[str]) -> None:
    """Keep what was not understood of a file in the manifest, in place of an earlier import's."""
    manifest = run.manifest
    manifest.not_measured.pop("counters", None)
    manifest.inputs = [*(each for each in manifest.inputs if not _is_of(each, file)), *notes]
    manifest.write(run.path)


def _is_of(note: str, file: Path) -> bool:
    return note.startswith((f"{file}: ", f"{file} "))


def _ns(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    whole = int(moment.replace(microsecond=0, tzinfo=UTC).timestamp())
    return whole * 1_000_000_000 + moment.microsecond * 1000
