"""Names of what servers have compiled while they ran, where perf looks for them.

A process has them in ``/tmp/perf-<pid>.map``, by its own domain's /tmp and number. A Java machine
writes that when jcmd(1) asks it to; PHP as it compiles, into that of the process which all others
were forked from, whose compiled code they share.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tierlab.environments.process import code_map
from tierlab.observe.agent import Spawn

JCMD_S = 30.0


class CodeMaps:
    """The maps of a trial's servers."""

    def __init__(self, spawn: Spawn, log: Path) -> None:
        self._spawn, self._log = spawn, log
        self._written: list[Path] = []

    def write(self, pids: Iterable[int]) -> list[int]:
        """Give each of these processes its map, where it has compiled code; return the Java
        machines that did not write theirs.
        """
        known, silent = list(pids), []
        for pid in known:
            parent = _parent(pid)
            if not _is_java(pid):
                if parent in known:
                    self._share(pid, parent)
            elif not self._ask(pid):
                silent.append(pid)
        return silent

    def _ask(self, pid: int) -> bool:
        jcmd = self._spawn(["jcmd", str(pid), "Compiler.perfmap"], self._log)
        status = jcmd.wait(JCMD_S)
        jcmd.stop(0)
        path = _map_of(pid)
        if status != 0 or path is None or not path.exists():
            return False
        self._written.append(path)
        return True

    def _share(self, pid: int, parent: int) -> None:
        """Give a forked process the map of who forked it."""
        own, others = _map_of(pid), _map_of(parent)
        if own is None or others is None or own.exists() or not others.exists():
            return
        # A process that has just ended needs none, and what somebody else put there is left.
        with suppress(FileNotFoundError, FileExistsError):
            # By name alone: in its domain the folder is another's than here.
            own.symlink_to(others.name)
            self._written.append(own)

    def remove(self) -> None:
        """Remove what was written."""
        while self._written:
            self._written.pop().unlink(missing_ok=True)


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name == "java"
    except OSError:
        return False


def _parent(pid: int) -> int:
    return int(_status(pid).get("PPid", 0))


def _status(pid: int) -> dict[str, str]:
    """What proc_pid_status(5) says; empty of a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _map_of(pid: int) -> Path | None:
    """Where its map is or would be, as this process sees it; None if the process has ended."""
    numbers = _status(pid).get("NSpid", "").split()
    if not numbers:
        return None
    return Path(f"/proc/{pid}/root{code_map(int(numbers[-1]))}")
