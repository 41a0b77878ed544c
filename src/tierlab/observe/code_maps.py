"""Names of what Java machines have compiled, written where perf looks for them.

Each writes ``/tmp/perf-<pid>.map``, by its own domain's /tmp and number, when jcmd(1) asks it to.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tierlab.observe.agent import Spawn

JCMD_S = 30.0


class CodeMaps:
    """The maps of a trial's Java machines."""

    def __init__(self, spawn: Spawn, log: Path) -> None:
        self._spawn, self._log = spawn, log
        self._written: list[Path] = []

    def write(self, pids: Iterable[int]) -> list[int]:
        """Have the Java machines among these processes write theirs; return which did not."""
        silent = []
        for pid in pids:
            if not _is_java(pid):
                continue
            jcmd = self._spawn(["jcmd", str(pid), "Compiler.perfmap"], self._log)
            status = jcmd.wait(JCMD_S)
            jcmd.stop(0)
            path = _map_of(pid)
            if status == 0 and path is not None:
                self._written.append(path)
            else:
                silent.append(pid)
        return silent

    def remove(self) -> None:
        """Remove what they have written."""
        while self._written:
            self._written.pop().unlink(missing_ok=True)


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name == "java"
    except OSError:
        return False


def _map_of(pid: int) -> Path | None:
    """Its map, as this process sees it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
    path = Path(f"/proc/{pid}/root/tmp/perf-{numbers[-1]}.map")
    return path if path.exists() else None
