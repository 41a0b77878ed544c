"""Option files of MariaDB: what its servers and the one that makes the seed have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DATA = "data"
TMP = "tmp"
SOCKET = "mysqld.sock"
"""Relative to the data folder: a socket's path must stay below 108 bytes."""
REDO_LOG_BYTES = 32 << 20
"""Small, because every instance gets a copy."""


def common_options(data: Path) -> dict[str, str | int]:
    """What the seed's server and a trial's servers have in common."""
    return {
        "datadir": str(data),
        "socket": SOCKET,
        "pid-file": "mysqld.pid",
        "tmpdir": str(data.parent / TMP),
        "skip-name-resolve": 1,
        "skip-log-bin": 1,
        "performance_schema": "OFF",
        # From MariaDB 11.4 on, TLS is the default; here the wire must be readable.
        "ssl": "OFF",
        "character-set-server": "utf8mb4",
        "innodb_log_file_size": REDO_LOG_BYTES,
        # Ends of connections are none of the log's business.
        "log_warnings": 1,
    }


def option_file(options: Mapping[str, str | int]) -> str:
    """Write an option file for the server."""
    lines = [f"{name} = {_quoted(value)}" for name, value in options.items()]
    return "\n".join(["[mariadbd]", *lines]) + "\n"


def _quoted(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) and (";" in value or " " in value) else str(value)
