"""`perf record` as a process of a trial's: it ends when asked to, and with whoever started it."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from pathlib import Path

import psutil

from tierlab.errors import UserError
from tierlab.experiment.profile import HARDWARE, Profile
from tierlab.observe.agent import Child, Spawn

READY_S = 15.0
POLL_S = 0.1
STOP_S = 30.0
"""For what it has still in memory."""
ENDS_WITH_US = ("setpriv", "--pdeathsig", "INT", "--")
"""On SIGINT it completes its file."""


def _guests_too(event: str) -> str:
    """As perf is asked for an event. Before 6.13 it leaves guests out of one without a modifier, so
    that a processor's counters stand still while a guest runs; the kernel's own go on.
    """
    return f"{event}:GH" if event in HARDWARE else event


class Recorder:
    """One recording of all PUs."""

    def __init__(self, profile: Profile, events: tuple[str, ...], file: Path, log: Path) -> None:
        self.log = log
        self.cpu_ns = 0
        """CPU time that it has used, once it has ended."""
        self._control = file.with_suffix(".control"), file.with_suffix(".answers")
        control = ",".join(map(str, self._control))
        self._argv = [
            *ENDS_WITH_US,
            *("perf", "record", "--all-cpus", "--clockid", "CLOCK_MONOTONIC", "--no-buildid"),
            *("--event", ",".join(map(_guests_too, events)), "--freq", str(profile.rate)),
            *(("--call-graph", "fp") if profile.stacks else ()),
            *("--output", str(file), "--control", f"fifo:{control}"),
        ]
        self._process: Child | None = None

    def start(self, spawn: Spawn) -> None:
        """Start it, and wait until it records; `UserError` if it does not."""
        for path in self._control:
            os.mkfifo(path, 0o600)
        self._process = spawn(self._argv, self.log)
        if self._process.stdout is not None:
            self._process.stdout.close()  # it says nothing there
        self.tell("ping")

    def tell(self, command: str) -> None:
        """Have it `enable` or `disable` its events, or `ping`; wait until it says that it has."""
        # Both ways: neither end waits for the other to open it.
        asked, answered = (os.open(path, os.O_RDWR | os.O_NONBLOCK) for path in self._control)
        try:
            os.write(asked, f"{command}\n".encode())
            self._wait(answered)
            os.read(answered, 64)
        finally:
            os.close(asked)
            os.close(answered)

    def _wait(self, answered: int) -> None:
        assert self._process is not None
        for _ in range(round(READY_S / POLL_S)):
            if select.select([answered], [], [], POLL_S)[0]:
                return
            if self._process.poll() is not None:
                raise self.failure()
        raise UserError(f"`perf record` gave no answer within {READY_S:.0f} s.")

    def check(self) -> None:
        """Raise :class:`UserError` when it has died."""
        if self._process is not None and self._process.poll() is not None:
            raise self.failure()

    def failure(self) -> UserError:
        """Describe an end that was none of ours, with the last line of its log."""
        said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = said[-1] if said else "it said nothing"
        return UserError(f"`perf record` ended: {last} (log: {self.log}).")

    def stop(self) -> None:
        """Let it complete its file."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(psutil.Error):
            used = psutil.Process(process.pid).cpu_times()
            self.cpu_ns = round((used.user + used.system) * 1e9)
        process.stop(STOP_S, signal.SIGINT)
        for path in self._control:
            path.unlink(missing_ok=True)
