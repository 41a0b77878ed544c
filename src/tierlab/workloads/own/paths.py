"""Paths that a file's tables name, which begin where the file is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OF_SERVERS = ("folder", "sql")
OF_SESSIONS = ("har", "log")
OF_SYSTEMS = ("compose",)
OF_IMAGES = ("image", "volumes")
"""Keys whose values are paths, or lists of them."""
FIRST = "first"
"""The key of an image's table whose value is a list of tables of images."""


def anchored(system: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A copy of a system's table with its paths as seen from the file's folder."""
    seen = {name: _table(name, each, folder) for name, each in system.items()}
    return seen | {key: _path(seen[key], folder) for key in OF_SYSTEMS if key in seen}


def _table(name: str, table: Any, folder: Path) -> Any:
    if not isinstance(table, dict):
        return table
    keys = OF_SESSIONS if name == "sessions" else OF_SERVERS
    seen = {key: _path(each, folder) if key in keys else each for key, each in table.items()}
    seen |= {key: _of_image(seen[key], folder) for key in OF_IMAGES if key in seen}
    if isinstance(seen.get(FIRST), list):
        seen[FIRST] = [_table(FIRST, each, folder) for each in seen[FIRST]]
    return seen


def _of_image(value: Any, folder: Path) -> Any:
    """A name of an image's or a volume's stays what it is, unless it is a path."""
    if isinstance(value, list):
        return [_of_image(each, folder) for each in value]
    if not isinstance(value, str):
        return value
    source, colon, rest = value.partition(":/")
    is_path = source.startswith((".", "/", "~")) or (not colon and (folder / source).is_file())
    return f"{_absolute(source, folder)}{colon}{rest}" if is_path else value


def _absolute(path: str, folder: Path) -> str:
    return os.path.normpath((folder / Path(path).expanduser()).absolute())


def _path(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_path(each, folder) for each in value]
    if not isinstance(value, str) or value.startswith("~"):
        return value
    return str(folder / value)
