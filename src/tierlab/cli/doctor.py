"""``tierlab doctor``: what this machine can and cannot measure, and why."""

from __future__ import annotations

import itertools
import json as encoder
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tierlab.cli import run_needs
from tierlab.machine.capabilities import check_all
from tierlab.machine.check import Check, Verdict
from tierlab.machine.fingerprint import fingerprint
from tierlab.machine.programs import VERSION_ARGUMENT, Program, look_up

COLOURS = {Verdict.WORKS: "green", Verdict.PARTLY: "yellow", Verdict.MISSING: "red"}


def doctor(
    runs: Annotated[Path, typer.Option(help="Where run folders are made.")] = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what this machine can and cannot measure, why, and what to do about it.

    Every answer comes from a try. The exit status is 0 when the demo can run here, else 1.
    """
    programs = tuple(
        look_up(name, package, run_needs.VERSION_ARGUMENTS.get(name, VERSION_ARGUMENT))
        for name, package in run_needs.PROGRAMS.items()
    )
    here = check_all(programs, run_needs.folders(runs), run_needs.agent_path())
    checks = [*here, *run_needs.checks()]
    possible = not any(check.stops_the_demo for check in checks)
    if json:
        found = {
            "demo": possible,
            "checks": [asdict(check) for check in checks],
            "machine": fingerprint(programs),
        }
        typer.echo(encoder.dumps(found, indent=2))
    else:
        _show(Console(highlight=False), checks, programs)
    if not possible:
        raise typer.Exit(1)


def _show(console: Console, checks: list[Check], programs: Sequence[Program]) -> None:
    ordered = sorted(checks, key=lambda check: [c.group for c in checks].index(check.group))
    for group, members in itertools.groupby(ordered, key=lambda check: check.group):
        console.print(Text(group, style="bold"))
        console.print(Padding(_table(list(members)), (0, 0, 1, 2), expand=False))
    for line in _summary(checks, programs):
        console.print(line, soft_wrap=True)


def _table(checks: list[Check]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(min_width=7)
    table.add_column(min_width=18, no_wrap=True)
    table.add_column()
    for check in checks:
        verdict = Text(check.verdict, style=COLOURS[check.verdict])
        table.add_row(verdict, Text(check.name), Text(check.seen))
        if check.verdict is not Verdict.WORKS:
            if check.lost:
                table.add_row("", Text("  lost", style="dim"), Text(check.lost))
            if check.remedy:
                table.add_row("", Text("  remedy", style="dim"), Text(check.remedy))
    return table


def _summary(checks: list[Check], programs: Sequence[Program]) -> Iterator[Text]:
    full = sum(check.verdict is Verdict.WORKS for check in checks)
    yield Text(f"{full} of {len(checks)} work in full.")
    stopping = [check.name for check in checks if check.stops_the_demo]
    if not stopping:
        yield Text("The demo can run here: tierlab demo", style="green")
        return
    yield Text(f"The demo cannot run here without: {', '.join(stopping)}.", style="red")
    packages = dict.fromkeys(program.package for program in programs if program.path is None)
    if packages:
        yield Text(f"Install: apt-get install --no-install-recommends {' '.join(packages)}")
