"""Why a server failed: the end of its own log, and whether there is room for it at all."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from tierlab.servers.disk import is_full

LAST_LINES = 5


def why(folder: Path, logs: Sequence[str]) -> str:
    """The tail of a sentence about a server whose files are in `folder`."""
    if is_full(folder):
        return f"; no space is left on the disk of {folder}: make room there and try again."
    lines = [line for name in logs for line in last_lines(folder / name)]
    return f"; its log ends: {' | '.join(lines)}" if lines else "; its log is empty."


def last_lines(path: Path) -> list[str]:
    """The last lines of a log that say anything; none if it cannot be read."""
    try:
        with path.open(errors="replace") as log:
            return list(deque((line.strip() for line in log if line.strip()), LAST_LINES))
    except OSError:
        return []
