"""A commented experiment file: every key, those with a default commented out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from tierlab.experiment.catalogue import CHANGE, COMMON, DISTURBANCES, tables_of
from tierlab.experiment.keys import Key, Table
from tierlab.values.quantities import BYTES, NANOSECONDS
from tierlab.values.toml import as_toml

ACTIVE: dict[tuple[str, ...], Any] = {
    ("experiment", "question"): "Where does the time go at 500 users?",
    ("system", "workload"): "rubbos",
    ("load", "users"): 500,
}
TABLES = tables_of("rubbos")
HEAD = f"""\
# An experiment for Tierlab: run it with `tierlab run FILE`.
# A key after `#` shows its default (or an example, where there is none): uncomment it to change it.
# Durations have a unit: {", ".join(NANOSECONDS)}; so have sizes: {", ".join(BYTES)}.
"""
FACTORS = """\
# Dotted keys of [system], [load] and [observe] with their levels: every combination is a trial.
# "load.users" = [500, 1000, 2000]
# "system.app.soft.threads" = [25, 100, 200]
"""
DISTURB = """\
Disturbances: faults that Tierlab injects, so that the truth is known. Uncomment a [[disturb]] with
its class and as many of the keys below it as are wanted; there may be several. Every class also has
these keys:
"""


def template(name: str) -> str:
    """The file's text, for an experiment of this name."""
    active = ACTIVE | {("experiment", "name"): name}
    tables = ("\n".join(_table(table, active)) for path, table in TABLES.items() if path)
    return "\n".join([HEAD, *(f"{text}\n" for text in (*tables, _changes(), *_disturbances()))])


def _table(table: Table, active: dict[tuple[str, ...], Any]) -> Iterator[str]:
    yield from _comment(table.meaning)
    yield f"[{'.'.join(table.path)}]"
    if table.path == ("factors",):
        yield FACTORS.rstrip()
    for key in table.keys:
        if key.path in active:
            yield from _comment(_about(key))
            yield f"{key.path[-1]} = {as_toml(active[key.path])}"
        else:
            yield from _off(key)


def _off(key: Key) -> Iterator[str]:
    """The key in a comment, with its default or an example."""
    yield from _comment(_about(key))
    yield f"# {key.path[-1]} = {as_toml(key.example if key.default is None else key.default)}"


def _about(key: Key) -> str:
    example = "; an example" if key.default is None and not key.required else ""
    return f"{key.meaning.rstrip('.')}. ({key.takes}{example})"


def _changes() -> str:
    """In comments, as a change that is there is made."""
    keys = (line for key in CHANGE.keys for line in _off(key))
    return "\n".join([*_comment(f"{CHANGE.meaning} There may be several."), "# [[change]]", *keys])


def _disturbances() -> Iterator[str]:
    """All of it in comments: a disturbance that is there happens."""
    yield "\n".join([*_comment(DISTURB), *(line for key in COMMON.values() for line in _off(key))])
    for kind, table in DISTURBANCES.items():
        yield "\n".join(_disturbance(kind, table))


def _disturbance(kind: str, table: Table) -> Iterator[str]:
    yield from _comment(table.meaning)
    yield "# [[disturb]]"
    yield f"# class = {as_toml(kind)}"
    for key in table.keys:
        if key.path[-1] not in COMMON:
            yield from _off(key)


def _comment(text: str) -> Iterator[str]:
    for line in textwrap.wrap(text, 96, break_on_hyphens=False):
        yield f"# {line}"
