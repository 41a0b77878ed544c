"""``tierlab map FILE``: where an experiment's servers would run, and how evenly they share."""

from __future__ import annotations

import json as encoder
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tierlab import experiment
from tierlab.deploy.layout import full_name
from tierlab.deploy.mapping import plan, servers
from tierlab.environments.kinds import KINDS
from tierlab.experiment import TrialPlan
from tierlab.machine import topology
from tierlab.machine.cautions import cautions
from tierlab.machine.mapping import Plan
from tierlab.machine.topology import Topology
from tierlab.machine.uniformity import static_dnu, time_slots

COLOURS = {"fast": "green", "slow": "yellow", "even": ""}


@dataclass(frozen=True)
class Mapped:
    """A mapping of some of the experiment's trials."""

    trials: list[str]
    levels: dict[str, Any]
    """Of the first of them."""
    machine: str
    """Whose PUs these are, as a source of hwloc's."""
    plan: Plan
    elsewhere: tuple[str, ...]
    """Servers that are not placed."""


def show_map(
    file: Annotated[Path, typer.Argument(help="An experiment file.")],
    machine: Annotated[
        str | None,
        typer.Option(
            help="Another machine: ssh://HOST, an XML file of lstopo, or a description such as"
            ' "pack:2 numa:1 core:4 pu:1".',
            show_default="this one, or the one that the environment emulates or asks a vCenter for",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say where each server would run, what share of its PUs it gets, its DNU, and warn.

    Starts nothing. Trials that map alike are shown once.
    """
    mapped = list(_mapped(experiment.load(file), machine))
    if json:
        typer.echo(encoder.dumps([_as_json(each) for each in mapped], indent=2))
        return
    console = Console(highlight=False)
    for each in mapped:
        if len(mapped) > 1:
            console.print(Text(_heading(each), style="bold"))
        shape = topology.read(each.machine)
        if each.plan:
            console.print(_table(each.plan, shape))
            console.print()
        if each.elsewhere:
            names = ", ".join(each.elsewhere)
            console.print(f"{names}: not placed, may run on every PU, not counted.")
        for said in cautions(each.plan, shape):
            console.print(Text(said, style="yellow"), soft_wrap=True)


def _heading(each: Mapped) -> str:
    levels = ", ".join(f"{key} = {value}" for key, value in each.levels.items())
    return f"trial{'s' if each.trials[1:] else ''} {', '.join(each.trials)}: {levels}"


def _mapped(asked: experiment.Experiment, given: str | None) -> Iterator[Mapped]:
    """Trials that map alike together, in the order of the first of each."""
    found: list[Mapped] = []
    planned_on = cache(lambda environment: KINDS[environment].planned_on())
    for trial in asked.trials():
        machine = given or planned_on(trial.system.environment)
        mapping, elsewhere = _planned(trial, machine)
        same = next(
            (
                each
                for each in found
                if (each.machine, each.plan, each.elsewhere) == (machine, mapping, elsewhere)
            ),
            None,
        )
        if same is None:
            found.append(Mapped([trial.trial], trial.levels, machine, mapping, elsewhere))
        else:
            same.trials.append(trial.trial)
    yield from found


def _planned(trial: TrialPlan, machine: str) -> tuple[Plan, tuple[str, ...]]:
    """Where the servers of all systems would run, and those that are not placed."""
    seated: Plan = {}
    elsewhere: list[str] = []
    for each in trial.systems:
        own = plan(each.system, machine)
        seated = {**seated, **{full_name(each.name, name): own[name] for name in own}}
        names = (name for name, _ in servers(each.system) if name not in own)
        elsewhere += (full_name(each.name, name) for name in names)
    return seated, tuple(elsewhere)


def _table(mapping: Plan, shape: Topology) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("server", "vCPU", "where", "PU", "share", "pace", "weight", "memory", "DNU"):
        table.add_column(heading, no_wrap=True)
    degrees, slots = static_dnu(mapping), time_slots(mapping)
    for name, seats in mapping.items():
        nodes = "any node" if seats.nodes is None else f"node {_numbers(seats.nodes)}"
        about = (str(seats.weight), nodes, f"{degrees[name]:.2f}")
        for number, (pu, slot) in enumerate(zip(seats.vcpus, slots[name], strict=True)):
            table.add_row(
                name if number == 0 else "",
                str(number),
                _where(pu, shape),
                str(pu),
                f"{slot.share:.0%}",
                Text(slot.pace, style=COLOURS[slot.pace]),
                *(about if number == 0 else ()),
            )
    return table


def _where(pu: int, shape: Topology) -> str:
    """`package:1 core:5`, as far as the machine says."""
    found = shape.by_number[pu]
    parts = (("package", found.package), ("core", found.core))
    return " ".join(f"{kind}:{rank}" for kind, rank in parts if rank is not None)


def _numbers(numbers: frozenset[int]) -> str:
    return ",".join(str(number) for number in sorted(numbers))


def _as_json(each: Mapped) -> dict[str, Any]:
    shape = topology.read(each.machine)
    degrees, slots = static_dnu(each.plan), time_slots(each.plan)
    return {
        "trials": each.trials,
        "levels": each.levels,
        "servers": {
            name: {
                "weight": seats.weight,
                "memory_nodes": None if seats.nodes is None else sorted(seats.nodes),
                "dnu": degrees[name],
                "vcpus": [
                    {"pu": pu, "pace": slot.pace} | asdict(slot)
                    for pu, slot in zip(seats.vcpus, slots[name], strict=True)
                ],
            }
            for name, seats in each.plan.items()
        },
        "not_placed": each.elsewhere,
        "cautions": cautions(each.plan, shape),
    }
