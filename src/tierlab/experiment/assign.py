"""Keys that the command line sets: `system.app.soft.threads=50`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from tierlab.errors import UserError
from tierlab.experiment.by_name import as_written, by_name, names
from tierlab.experiment.factors import stated_levels
from tierlab.experiment.problem import dotted, shown

EXAMPLE = "system.app.soft.threads=50"


def assignment(text: str) -> tuple[tuple[str, ...], Any]:
    """The key by its path, and the value; UserError when it is not one of each.

    Both are TOML's; a value that is none stands for itself as text (`load.think=2s`).
    """
    key, _, written = text.partition("=")
    try:
        path = _path(tomllib.loads(f"{key} = 0"))
    except tomllib.TOMLDecodeError:
        path = ()
    if not path or not written.strip():
        raise UserError(f"--set {shown(text)} is not KEY=VALUE; give it as in --set {EXAMPLE}.")
    try:
        return path, tomllib.loads(f"value = {written}")["value"]
    except (ValueError, RecursionError):
        return path, written.strip()


def _path(tables: Mapping[str, Any]) -> tuple[str, ...]:
    """The one key that these tables lead to."""
    ((key, below),) = tables.items()
    return (key, *_path(below)) if isinstance(below, dict) else (key,)


def assigned(
    tables: Mapping[str, Any], path: tuple[str, ...], value: Any, source: str
) -> dict[str, Any]:
    """A copy of a file's tables with the value at this key.

    UserError where a factor would put its levels there, or the key is in no table; `source` names
    file and option.
    """
    _check_factors(tables, path, source)
    _check_system(tables, path, source)
    changed = by_name(tables)
    table = changed
    for number, key in enumerate(path[:-1], start=1):
        below = table.get(key, {})
        if not isinstance(below, dict):
            raise UserError(
                f"{source}: {dotted(path[:number])} is {shown(below)} there and no table that"
                " could have a key; set it as a whole."
            )
        table[key] = table = dict(below)
    table[path[-1]] = value
    return as_written(changed, tables)


def _check_system(tables: Mapping[str, Any], path: tuple[str, ...], source: str) -> None:
    systems = names(tables)
    if path[0] == "system" and systems and (len(path) < 3 or path[1] not in systems):
        raise UserError(
            f"{source}: there are several systems ({', '.join(systems)}); name one, as in"
            f" --set system.{systems[0]}.load.users=50."
        )


def _check_factors(tables: Mapping[str, Any], path: tuple[str, ...], source: str) -> None:
    factors = tables.get("factors", {})
    levels, _ = stated_levels(factors) if isinstance(factors, dict) else ({}, [])
    name = ".".join(path)
    for factor in levels:
        if name == factor or name.startswith(f"{factor}."):
            raise UserError(
                f"{source}: {factor} is a factor there, whose levels would replace it; set its"
                f" levels with --set 'factors.\"{factor}\"=[...]'."
            )
