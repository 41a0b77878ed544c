"""The verbs of the command line, each loaded when it is called.

What some verbs need takes seconds to load where the machine is busy; the others do not wait for it.
"""

from __future__ import annotations

import atexit
import gc
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperGroup

VERBS = {
    "demo": "demo",
    "run": "run",
    "runs": "list_runs",
    "report": "report",
    "diagnose": "diagnose",
    "profile": "profile",
    "study": "study",
    "init": "init",
    "check": "check",
    "doctor": "doctor",
    "clean": "clean",
    "compare": "compare_runs",
    "import": "import_",
    "map": "show_map",
    "image": "image",
}
"""Verb, in the order of the help: its module in this package has it by this name."""
KEYWORDS = {"import": "import_"}
"""Modules of verbs that are words of Python's."""


class Verbs(TyperGroup):
    """A group of commands whose modules are loaded when they are asked for.

    Contexts and commands are of a click that is private to Typer: they have no type to name.
    """

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's interface
        """Name all verbs."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - click's interface
        """Load a verb; None where there is none of this name."""
        return _loaded(cmd_name) if cmd_name in VERBS else None


def _loaded(verb: str) -> Any:
    found = getattr(_module(f"tierlab.cli.{KEYWORDS.get(verb, verb)}"), VERBS[verb])
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)
    alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    alone.command(verb)(found)
    return typer.main.get_command(alone)


def _module(name: str) -> ModuleType:
    """Load a module, which stays: to look for garbage in it again and again takes a sixth of the
    time of loading, and as much of each later search.
    """
    # At exit, Python frees modules by a search for garbage, which passes over frozen ones. DuckDB's
    # binding would report all of its objects as leaked.
    atexit.register(gc.unfreeze)
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()
