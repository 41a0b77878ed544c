"""The command ``tierlab`` as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil
import pytest

from tests.loaded import Forked

MAIN = "import sys; from tierlab.cli.main import main; sys.argv[0] = 'tierlab'; main()"
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
OWN_LOOPBACK = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
"""For servers that have no network of their trial's own: others listen at the same addresses."""
SECONDS = 240
TIDY_SECONDS = 60.0
"""Of silence until a stage begins, and until the end of what is broken off."""


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    pid: int
    status: int
    stdout: str
    stderr: str

    @property
    def sentence(self) -> str:
        """What it says of its failure: one line, the last, and no traceback before it."""
        assert self.status == 2, self.stderr
        assert "Traceback" not in self.stderr
        lines = self.stderr.splitlines()
        assert sum(line.startswith("tierlab: ") for line in lines) == 1, lines
        assert lines[-1].startswith("tierlab: ")
        return lines[-1].removeprefix("tierlab: ")


class Command:
    """A running ``tierlab`` with its ledgers in `folder`, which it also works in.

    `prefix` starts it as another user, or in another namespace.
    """

    def __init__(self, folder: Path, *arguments: str | Path, prefix: Sequence[str] = ()) -> None:
        places = {"XDG_STATE_HOME": str(folder / "state")}
        if tuple(prefix) == NOBODY:
            places["XDG_CACHE_HOME"] = str(folder / "cache")
        environment = {**os.environ, **places, "NO_COLOR": "1"}
        said = list(map(str, arguments))
        # For as long as this lives; they have no names that a killed test could leave behind.
        self._printed, self._said = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self.process: Forked | subprocess.Popen[bytes]
        if prefix:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-c", MAIN, *said],
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=self._said,
                cwd=folder,
                env=environment,
            )
        else:
            files = (self._printed, self._said)
            streams = [f"/proc/{os.getpid()}/fd/{each.fileno()}" for each in files]
            self.process = Forked(said, folder, environment, streams)

    def wait_for(self, stage: str, *, trial: str = "") -> None:
        """Wait until a stage has begun, of several trials that of the one with this title.

        The command is to say something new now and then: a busy machine may take long to say all.
        """
        heard, before = time.monotonic(), ""
        while not any(line.startswith(stage) for line in self._said_of(trial)):
            assert self.process.poll() is None, self._errors()
            if (said := self._errors()) != before:
                heard, before = time.monotonic(), said
            assert time.monotonic() < heard + SECONDS, said
            time.sleep(0.02)

    def _said_of(self, trial: str) -> list[str]:
        said = self._errors()
        return said[said.find(trial) :].splitlines() if trial in said else []

    def programs(self, *names: str) -> list[psutil.Process]:
        """Those of these names that it has started and that still run."""
        found = []
        for child in psutil.Process(self.process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if child.name() in names:
                    found.append(child)
        return found

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it at once, if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def break_off(self) -> None:
        """Have it tidy up and end, if it still runs."""
        if self.process.poll() is None:
            self.signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(TIDY_SECONDS)
        self.kill()

    def end(self, seconds: float | None = None) -> Ended:
        """Wait for the end, for as long as the test may take or for some seconds."""
        status = self.process.wait(seconds)
        errors = self._errors()
        if "Permission denied" in errors and "python" in errors:
            pytest.skip("this source tree cannot be read by another user")
        return Ended(self.process.pid, status, _text(self._printed), errors)

    def _errors(self) -> str:
        return _text(self._said)


def _text(file: IO[bytes]) -> str:
    # From the beginning, without moving the place at which the command writes on.
    return os.pread(file.fileno(), 1 << 24, 0).decode()


Start = Callable[..., Command]


@contextmanager
def commands(folder: Path) -> Iterator[Start]:
    """Start commands in a folder; what still runs at the end is broken off, since the guests of a
    trial that failed a test would take the next one's processors.
    """
    started: list[Command] = []

    def start(*arguments: str | Path, prefix: Sequence[str] = ()) -> Command:
        started.append(Command(folder, *arguments, prefix=prefix))
        return started[-1]

    try:
        yield start
    finally:
        for command in started:
            command.break_off()
