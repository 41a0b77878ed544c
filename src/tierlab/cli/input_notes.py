"""What is said of the files that an application is brought with, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable

import typer

from tierlab.experiment import SystemPlan


def say_assumed(assumed: Iterable[str]) -> None:
    """Print what is taken for granted of a compose file's services."""
    for each in assumed:
        typer.echo(f"assumed  {each}.")


def say_notes(systems: Iterable[SystemPlan]) -> None:
    """Print what was not understood of recordings and logs."""
    for system in systems:
        for each in system.system.application.notes():
            typer.echo(f"note   {each}")
