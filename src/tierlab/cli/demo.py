"""``tierlab demo``: one trial, disturbed in a way that nobody knows before its diagnosis."""

from __future__ import annotations

import secrets
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tierlab.cli.run import Json, Runs, run_experiment
from tierlab.cli.truth import told
from tierlab.environments.native.native import Native
from tierlab.experiment import Experiment
from tierlab.experiment.file import read_tables
from tierlab.trial.disturb_needs import possible_classes

Seed = Annotated[
    int | None,
    typer.Option(min=0, max=2**32 - 1, help="Repeat the demo that had this seed."),
]


def demo(runs: Runs = Path("runs"), json: Json = False, seed: Seed = None) -> None:
    """Run RUBBoS on Apache httpd, Tomcat, HAProxy and MariaDB: two minutes to a first report.

    One disturbance, drawn at random, is injected. The diagnosis does not know it; after the
    diagnosis the truth is told.
    """
    seed = secrets.randbelow(2**32) if seed is None else seed
    (run,) = run_experiment(Experiment.from_tables(_tables(seed), "the demo"), runs, json)
    # With --json the answer's place is for JSON only.
    console = Console(stderr=json, highlight=False, soft_wrap=True)
    console.print(f"\n{told(run)}", markup=False)
    console.print(f"`tierlab demo --seed {seed}` repeats it.", markup=False)


def _tables(seed: int) -> dict[str, Any]:
    """The demo's file with this seed, and with what can be done to it on this machine."""
    with as_file(files("tierlab.cli") / "demo.toml") as file:
        tables = read_tables(file)
    tables["experiment"]["seed"] = seed
    possible = possible_classes(Native.probe())
    for table in tables["disturb"]:
        table["classes"] = list(possible)
    return tables
