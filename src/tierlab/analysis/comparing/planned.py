"""What a trial's plan asks of its system, of how it is observed and of what is changed meanwhile.

Folders from before plans were kept have none.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tierlab.tables.manifest import Manifest

NOT_ASKED = ("name", "data_seed", "load")
"""Keys of a system that differ by themselves, or that the manifest has in another place."""
ELSEWHERE = ("soft", "calls")
"""Keys of a tier that the manifest has of each server, or that may say only what was found."""
PATHS = ("folder", "sql", "har", "log")
"""Keys whose values are paths of the user's."""
PROGRAM = ("command", "image", "entrypoint", "folder", "sql", "address", "port")
"""Keys of a tier that say which program its servers run, where a user brings it."""
SESSIONS = "sessions"
"""The table that says what users do, where a user brings the application."""


def planned(manifest: Manifest) -> dict[str, Any]:
    """Return what the plan asks for, such as ``system.scale`` and ``observe.interval``, and how
    many changes.
    """
    return dict(_planned(manifest))


def _planned(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    for system in _systems(manifest):
        above = f"system.{system['name']}" if "name" in system else "system"
        for key, value in _without(system, NOT_ASKED).items():
            kept = _without(value, ELSEWHERE) if isinstance(value, Mapping) else value
            yield from _flat(f"{above}.{key}", kept)
    if "observe" in manifest.plan:
        yield from _flat("observe", manifest.plan["observe"])
    changes = manifest.plan.get("change")
    if isinstance(changes, list):
        yield "change", len(changes)
        for number, each in enumerate(changes, start=1):
            yield from _flat(f"change.{number}", each)


def _systems(manifest: Manifest) -> list[Mapping[str, Any]]:
    """The plan's table of each system."""
    told = manifest.plan.get("system")
    given = told if isinstance(told, list) else [told]
    return [each for each in given if isinstance(each, Mapping)]


def _without(table: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _flat(f"{path}.{key}", below)
    elif path.rpartition(".")[2] in PATHS:
        # One place has several spellings, by where Tierlab was called.
        yield path, _each(os.path.normpath, value)
    else:
        yield path, value


def _each(change: Callable[[str], str], value: Any) -> Any:
    """A text, or each of a list of them, changed."""
    return [change(str(each)) for each in value] if isinstance(value, list) else change(str(value))


def same_programs(one: Manifest, other: Manifest) -> bool:
    """Say whether the same programs served the same visits: the servers' names, tiers and software,
    and, of what a user brings, what starts it and what its users do. Where one of them has no plan,
    the servers alone tell.
    """
    if _software(one) != _software(other):
        return False
    return not (one.plan and other.plan) or _programs(one) == _programs(other)


def _software(manifest: Manifest) -> dict[str, tuple[str, str]]:
    return {name: (part.tier, part.server) for name, part in manifest.servers.items()}


def _programs(manifest: Manifest) -> dict[str, Any]:
    return {
        f"{system.get('name', '')}.{table}.{key}": _named(key, value)
        for system in _systems(manifest)
        for table, keys in _without(system, NOT_ASKED).items()
        if isinstance(keys, Mapping)
        for key, value in keys.items()
        if table == SESSIONS or key in PROGRAM
    }


def _named(key: str, value: Any) -> Any:
    """The value; of paths the last names alone: a copy elsewhere varies as the first does."""
    return _each(os.path.basename, _each(os.path.normpath, value)) if key in PATHS else value
