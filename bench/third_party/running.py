"""Tierlab's commands, run as a user runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TIERLAB = Path(sys.executable).with_name("tierlab")
LONGEST_S = 400


class FailedError(Exception):
    """A command that did not end well; the message has its last lines."""


@dataclass(frozen=True)
class Tierlab:
    """Tierlab's command line in an application's folder.

    Of ``kept`` nothing is run: what was printed, and the run folders, are those from before.
    ``within`` is a command that runs another.
    """

    place: Path
    kept: frozenset[str] = frozenset()
    within: tuple[str, ...] = ()

    def check(self, seconds: int) -> str:
        """Return what ``tierlab check`` prints after so long. Raises :class:`FailedError`."""
        return self._do("check.log", "check", "experiment.toml", "--seconds", str(seconds))

    def trial(self, name: str, text: str, *settings: str) -> Path:
        """Run an experiment of this text and return its run folder. Raises :class:`FailedError`."""
        runs = self.place / "runs" / name
        if name not in self.kept:
            (self.place / f"{name}.toml").write_text(text)
            shutil.rmtree(runs, ignore_errors=True)
        told = [word for each in settings for word in ("--set", each)]
        self._do(f"{name}.log", "run", f"{name}.toml", "--runs", str(runs), *told)
        return next(runs.rglob("manifest.json")).parent

    def _do(self, log: str, *arguments: str) -> str:
        file = self.place / log
        if file.stem in self.kept and file.exists():
            return file.read_text("utf-8")
        with file.open("w", encoding="utf-8") as said:
            done = subprocess.run(
                [*self.within, TIERLAB, *arguments],
                cwd=self.place,
                env=os.environ | {"NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                timeout=LONGEST_S,
                check=False,
            )
        text = file.read_text("utf-8")
        if done.returncode:
            lines = text.splitlines()
            told = [line for line in lines if line.startswith(("FAILS", "tierlab: "))]
            raise FailedError("\n".join(told or lines[-3:]))
        return text
