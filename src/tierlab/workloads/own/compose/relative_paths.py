"""Relative paths of a compose file made absolute, so that a file elsewhere can take its services.

Source: Compose Specification, "include" and "extends": paths of another file begin in its folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tierlab.workloads.own.compose.build import located

SERVICE = "service:"
"""How an additional context names another service."""


def with_absolute_paths(tables: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the tables of a compose file whose relative paths begin in `folder`."""
    made = dict(tables)
    for kind in ("configs", "secrets"):
        made[kind] = _each(made.get(kind), lambda each: _at(each, "file", folder))
    made["volumes"] = _each(made.get("volumes"), lambda each: _bound(each, folder))
    made["services"] = _each(made.get("services"), lambda each: absolute_service(each, folder))
    return {key: value for key, value in made.items() if value is not None}


def absolute_service(service: Any, folder: Path) -> Any:
    """Return a service whose relative paths begin in `folder`; what is no table as it is."""
    if not isinstance(service, dict):
        return service
    made = dict(service)
    files = made.get("env_file")
    if files is not None:
        listed = files if isinstance(files, list) else [files]
        made["env_file"] = [_path(each, "path", folder) for each in listed]
    if isinstance(made.get("volumes"), list):
        made["volumes"] = [_volume(each, folder) for each in made["volumes"]]
    if made.get("build") is not None:
        made["build"] = _build(made["build"], folder)
    return made


def _each(table: Any, change: Any) -> Any:
    """Return a table with each value changed; what is no table as it is."""
    return (
        {name: change(each) for name, each in table.items()} if isinstance(table, dict) else table
    )


def _path(entry: Any, key: str, folder: Path) -> Any:
    """Return a path, or a table that has it under a key."""
    return located(entry, folder) if isinstance(entry, str) else _at(entry, key, folder)


def _at(table: Any, key: str, folder: Path) -> Any:
    if not isinstance(table, dict) or not isinstance(table.get(key), str):
        return table
    return {**table, key: located(table[key], folder)}


def _bound(volume: Any, folder: Path) -> Any:
    """Return a volume of the file; the device is a path where the options bind a folder."""
    options = volume.get("driver_opts") if isinstance(volume, dict) else None
    if not isinstance(options, dict) or "bind" not in str(options.get("o", "")).split(","):
        return volume
    return {**volume, "driver_opts": _at(options, "device", folder)}


def _volume(entry: Any, folder: Path) -> Any:
    if isinstance(entry, dict):
        return _at(entry, "source", folder) if entry.get("type") == "bind" else entry
    source, colon, rest = str(entry).partition(":")
    if not colon or not source.startswith((".", "~")):
        return entry
    return f"{located(source, folder)}:{rest}"


def _build(build: Any, folder: Path) -> Any:
    if not isinstance(build, dict):
        return located(build, folder) if isinstance(build, str) else build
    made = {**build, "context": located(str(build.get("context") or "."), folder)}
    contexts = made.get("additional_contexts")
    if isinstance(contexts, list):
        contexts = dict(str(each).partition("=")[::2] for each in contexts)
    if isinstance(contexts, dict):
        made["additional_contexts"] = {
            name: each if str(each).startswith(SERVICE) else located(str(each), folder)
            for name, each in contexts.items()
        }
    return made
