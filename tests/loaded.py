"""The command line in a fork of a process that has loaded it, which takes half a second each time.

Each is a process of its own with its folder, its environment and its streams, and takes signals as
any other. That it loads at all is shown by the demo, the documentation's pages and the wheel.
"""

from __future__ import annotations

import multiprocessing
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import tierlab.cli

LOADING = multiprocessing.get_context("forkserver")
LOADING.set_forkserver_preload(
    [__name__, *(f"tierlab.cli.{each.name}" for each in pkgutil.iter_modules(tierlab.cli.__path__))]
)


class Forked:
    """Runs the command with these arguments; has of `subprocess.Popen` what tests ask of one.

    `streams` are the files for what it prints and for its errors.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        streams: Sequence[str],
    ) -> None:
        self._process = LOADING.Process(
            target=_run, args=(arguments, folder, dict(environment), streams)
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its status once it has ended; of one that a signal ended, the signal's with a minus."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("tierlab", timeout or 0.0)
        return self.returncode


def _run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], streams: Sequence[str]
) -> None:
    from tierlab.cli.main import main

    for number, file in enumerate((os.devnull, *streams)):
        opened = os.open(file, os.O_RDWR | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["tierlab", *arguments]
    main()
