"""``tierlab import``: what other tools have measured, into a run folder's tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from tierlab.errors import UserError
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
            help="When its first sample was taken (UTC), where the file does not tell.",
        ),
    ] = None,
) -> None:
    """Import a profile of perf's: each sample becomes a row of `counters`, with its stack.

    What the run has of the same events in the same domain is replaced.
    """
    complete(into)
    run = Run(into)
    made = PerfRows({}, domain, first_ns=_ns(first_at), first_stack=next_stack(into))
    rows = made.counters(read_perf(file), str(file))
    count = _add(run, file, rows, made.stack_rows)
    lost = f"; perf had lost {made.lost} more" if made.lost else ""
    typer.echo(f"{count} samples{lost}: tierlab profile {into}", err=True)


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
    count = _add(run, file, counters_of(read_opreport(file), runtime, domain))
    typer.echo(f"{count} functions: tierlab profile {into}", err=True)


def _add(
    run: Run,
    file: Path,
    rows: Iterable[Mapping[str, Any]],
    stacks: Callable[[], Iterable[Mapping[str, Any]]] = tuple,
) -> int:
    """Add rows of `counters`, and the stacks that there are after them; how many rows they were."""
    with tempfile.TemporaryDirectory(prefix="tierlab-import-") as folder:
        streams = Path(folder)
        count = write_rows(streams / "counters.arrows", "counters", rows)
        if not count:
            raise UserError(f"{file} has no sample: record while something runs.")
        write_rows(streams / "stacks.arrows", "stacks", stacks())
        add_profile(streams, run.path, run.manifest.host_name)
    if run.manifest.not_measured.pop("counters", None) is not None:
        run.manifest.write(run.path)
    return count


def _ns(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    whole = int(moment.replace(microsecond=0, tzinfo=UTC).timestamp())
    return whole * 1_000_000_000 + moment.microsecond * 1000
