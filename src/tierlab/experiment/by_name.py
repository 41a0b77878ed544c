"""`[[system]]` as a table of systems by name, in which a dotted key leads to one of them:
`system.shop.load.users`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXAMPLE = "system.shop.load.users"
"""A key of one of several systems."""
COUNT = "count"
"""Key of one of several systems: how many alike its table stands for."""


def by_name(document: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a file's tables with its systems by name, where there are several and each has one
    of its own; else as they are.
    """
    systems = document.get("system")
    if not isinstance(systems, list):
        return dict(document)
    named = {each["name"]: each for each in systems if isinstance(each, dict) and _has_name(each)}
    return {**document, "system": named if len(named) == len(systems) else systems}


def _has_name(table: Mapping[str, Any]) -> bool:
    return isinstance(table.get("name"), str)


def as_written(document: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `by_name`: `before` is the file that was written with `[[system]]`, or was not."""
    systems = document.get("system")
    if isinstance(before.get("system"), list) and isinstance(systems, dict):
        return {**document, "system": list(systems.values())}
    return dict(document)


def names(document: Mapping[str, Any]) -> list[str] | None:
    """The names of several systems; None where there is `[system]`."""
    if not isinstance(document.get("system"), list):
        return None
    systems = by_name(document)["system"]
    return list(systems) if isinstance(systems, dict) else []


def key_alone(document: Mapping[str, Any], dotted: str) -> str | None:
    """What a dotted key is called where its system is the only one: `load.users` for
    `system.shop.load.users`. What is common to all is itself; None where a system has to be named
    and is not.
    """
    systems = names(document)
    table, _, rest = dotted.partition(".")
    if systems is None or table not in ("system", "load") or dotted.startswith("load.phases"):
        return dotted
    name, _, key = rest.partition(".")
    if table == "load" or name not in systems:
        return None
    return key if key.startswith("load.") else f"system.{key}"
