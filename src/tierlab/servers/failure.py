"""Why a server failed: the end of its own log, and whether there is room for it at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tierlab.servers.disk import is_full

LAST_LINES = 5


def why(folder: Path, logs: Sequence[str]) -> str:
    """The tail of a sentence about a server with its files in `folder`, from what its logs say."""
    if is_full(folder):
        return f"; no space is left on the disk of {folder}: make room there and try again."
    lines = [line for log in logs for line in last_lines(log)]
    return f"; its log ends: {' | '.join(lines)}" if lines else "; its log is empty."


def last_lines(log: str) -> list[str]:
    """The last lines of a log that say anything."""
    return [line.strip() for line in log.splitlines() if line.strip()][-LAST_LINES:]
