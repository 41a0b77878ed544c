"""Paths that a file's tables name, which begin where the file is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

OF_SERVERS = ("folder", "sql")
OF_SESSIONS = ("har", "log")
"""Keys whose values are paths, or lists of them."""


def anchored(system: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A copy of a system's table with its paths as seen from the file's folder."""
    return {name: _table(name, each, folder) for name, each in system.items()}


def _table(name: str, table: Any, folder: Path) -> Any:
    if not isinstance(table, dict):
        return table
    keys = OF_SESSIONS if name == "sessions" else OF_SERVERS
    return {key: _path(each, folder) if key in keys else each for key, each in table.items()}


def _path(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_path(each, folder) for each in value]
    if not isinstance(value, str) or value.startswith("~"):
        return value
    return str(folder / value)
