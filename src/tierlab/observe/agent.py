"""The agent: where its binary is, and one verb of it as a running process.

A verb prints JSON lines: ``{"ready": true}`` once it really works, progress about once a second,
and ``{"summary": {...}}`` at the end with what it cost and lost. Human words are on stderr.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from tierlab import installation
from tierlab.errors import UserError


class Child(Protocol):
    """A started program, as :class:`tierlab.environments.process.Process` is one."""

    @property
    def pid(self) -> int:
        """Its number, on this host."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """Its standard output, a pipe."""

    def poll(self) -> int | None:
        """Exit status; None while it runs."""

    def wait(self, timeout: float) -> int | None:
        """Wait for the end; None if it still runs after ``timeout`` seconds."""

    def stop(self, grace: float, first: int = ...) -> bool:
        """Ask it to end, then kill it."""


_FULL_BYTES = 64 << 10
"""With less than this left the agent's last words did not reach its log either."""

READ_S = 1.0
"""For what an agent said last: its pipe is read by a thread."""
LINK_S = 900.0
"""Ten million visits, of some 100 bytes each, take about a minute."""
LINKED_A_SECOND = 100_000
"""Bytes of raw visits, at least: a machine may be slow, and a run of hours has gigabytes."""

Spawn = Callable[[Sequence[str], Path], Child]
"""Starts a command with its standard error in the file given."""


def binary() -> str:
    """Return the agent's path: ``$TIERLAB_AGENT``, else the one that was built or came with
    the wheel, else ``$PATH``.

    Raises :class:`UserError` when it is in none of these places.
    """
    built = str(installation.AGENT)
    for candidate in (os.environ.get("TIERLAB_AGENT"), built, shutil.which("tierlab-agent")):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise UserError(
        f"tierlab-agent is neither at {built} nor on PATH: {installation.REMEDY}, "
        "or name it in TIERLAB_AGENT."
    )


class Verb:
    """One running verb of the agent.

    ``of`` is whose, where several run at once. ``progress`` is the last progress line; ``summary``
    is what it said at the end, or None when it died before.
    """

    def __init__(
        self,
        verb: str,
        plan: Mapping[str, Any],
        folder: Path,
        logs: Path,
        spawn: Spawn,
        *,
        of: str = "",
    ) -> None:
        self.name = f"{verb}.{of}" if of else verb
        self.log = logs / f"agent.{self.name}.log"
        self.progress: dict[str, Any] = {}
        self.ready_line: dict[str, Any] = {}
        self.summary: dict[str, Any] | None = None
        self._ready = threading.Event()
        plan_file = logs / f"agent.{self.name}.json"
        self.process = spawn(_argv(verb, plan, folder, plan_file), self.log)
        self._reader = threading.Thread(target=self._read, name=f"agent-{self.name}", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                try:
                    said = json.loads(line)
                except json.JSONDecodeError:
                    continue
                if "ready" in said:
                    self.ready_line = said
                    self._ready.set()
                elif "summary" in said:
                    self.summary = said["summary"]
                else:
                    self.progress = said
        self._ready.set()

    def wait_ready(self, timeout: float) -> None:
        """Wait for the ready line.

        Raises :class:`UserError` with the end of its log when it dies first or takes too long.
        """
        if not self._ready.wait(timeout):
            raise UserError(f"`tierlab-agent {self.name}` was not ready within {timeout:.0f} s.")
        if not self.ready_line:
            raise self.failure()

    def failure(self) -> UserError:
        """Describe an end that was none of ours, with the last line of its log."""
        return _failure(self.name, self.process.wait(10), self.log)

    @property
    def running(self) -> bool:
        """Say whether the process lives."""
        return self.process.poll() is None

    @property
    def died(self) -> bool:
        """Say whether it has ended without its last words, once all that it said is read."""
        if self.running:
            return False
        self._reader.join(READ_S)
        return self.summary is None

    def wait(self, timeout: float) -> None:
        """Wait for its end by itself.

        Raises :class:`UserError` when it fails or does not end in time.
        """
        if self.process.wait(timeout) is None:
            raise UserError(f"`tierlab-agent {self.name}` did not end within {timeout:.0f} s.")
        if self.died:
            raise self.failure()

    def stop(self, grace: float = 30) -> None:
        """Ask it to finish its tables; it is killed when that takes longer than ``grace``."""
        running = self.running
        if not running:
            self._reader.join(grace)
        self.process.stop(grace, signal.SIGINT)
        self._reader.join(5)


def link(
    plan: Mapping[str, Any], folder: Path, logs: Path, spawn: Spawn, raw_bytes: int
) -> dict[str, Any]:
    """Link the raw visits of a run, of so many bytes, to their parents; return the agent's summary.

    Raises :class:`UserError` with the end of its log when it fails.
    """
    linking = Verb("link", plan, folder, logs, spawn)
    try:
        linking.wait(max(LINK_S, raw_bytes / LINKED_A_SECOND))
    finally:
        linking.stop(grace=2)
    return linking.summary or {}


def _argv(verb: str, plan: Mapping[str, Any], folder: Path, plan_file: Path) -> list[str]:
    # A sampling plan has the password of the database.
    plan_file.touch(mode=0o600)
    plan_file.write_text(json.dumps(plan, indent=1) + "\n", encoding="utf-8")
    return [binary(), verb, "--plan", str(plan_file), "--out", str(folder)]


def _failure(name: str, status: int | None, log: Path) -> UserError:
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if said:
        last = said[-1].removeprefix("tierlab-agent: ")
    elif shutil.disk_usage(log.parent).free < _FULL_BYTES:
        last = f"no space is left on the disk that holds {log.parent.parent}"
    else:
        last = "it said nothing"
    return UserError(f"`tierlab-agent {name}` ended with status {status}: {last} (log: {log}).")
