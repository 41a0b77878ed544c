"""PostgreSQL's configuration files: what its servers and the seed's maker have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DATA = "data"
CONFIGURATION = "postgresql.conf"
ACCESS = "pg_hba.conf"
OWNER = "postgres"
"""The installation's superuser, who cannot log in."""
BUFFER_BLOCK = 8192
"""Bytes of a page: the least unit of memory."""


def common_settings(folder: Path) -> dict[str, str | int]:
    """What the seed's server and a trial's servers have in common."""
    return {
        "data_directory": str(folder / DATA),
        "hba_file": str(folder / ACCESS),
        "ident_file": str(folder / ACCESS),
        "unix_socket_directories": str(folder / DATA),
        # In files: segments in /dev/shm would outlive a server that is killed.
        "dynamic_shared_memory_type": "mmap",
        # From 15 on off by default in Debian alone; here the wire must be readable.
        "ssl": "off",
        "password_encryption": "scram-sha-256",
        "min_wal_size": "32MB",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C",
        "jit": "off",
        # So that each statement can be counted beside the tracer's visits.
        "shared_preload_libraries": "pg_stat_statements",
        "pg_stat_statements.track_utility": "on",
        "pg_stat_statements.save": "off",
    }


def configuration(settings: Mapping[str, str | int]) -> str:
    """Write a configuration file for the server."""
    return "".join(f"{name} = {_quoted(value)}\n" for name, value in settings.items())


def _quoted(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
