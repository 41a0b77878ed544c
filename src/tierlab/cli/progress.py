"""Progress on a terminal (bars with time left) and elsewhere (plain lines)."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

_PLAIN_EVERY_S = 10.0


class TerminalProgress:
    """A bar per stage with the time left; use as a context."""

    def __init__(self, console: Console) -> None:
        self._bars = Bars(
            TextColumn("{task.description:<14}"),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[left]:>7}"),
            TextColumn("{task.fields[note]}"),
            console=console,
        )
        self._task: TaskID | None = None
        self._seconds: float | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._complete()
        self._bars.stop()

    def _complete(self) -> None:
        if self._task is not None:
            total = self._seconds or 1.0
            self._bars.update(self._task, total=total, completed=total, left="", refresh=True)

    def stage(self, name: str, seconds: float | None = None) -> None:
        """Begin a stage; without ``seconds`` the bar only pulses."""
        self._complete()
        self._seconds = seconds
        self._task = self._bars.add_task(name, total=seconds, left="", note="")

    def advance(self, elapsed: float, note: str = "") -> None:
        """Move the bar."""
        if self._task is None:
            return
        left = "" if self._seconds is None else f"{max(0.0, self._seconds - elapsed):.0f} s left"
        done = elapsed if self._seconds is None else min(elapsed, self._seconds)
        self._bars.update(self._task, completed=done, left=left, note=note)


class PlainProgress:
    """A line when a stage begins and one every ten seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._name = ""
        self._seconds: float | None = None
        self._said = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def stage(self, name: str, seconds: float | None = None) -> None:
        """Say that a stage begins."""
        self._name, self._seconds, self._said = name, seconds, time.monotonic()
        self._print(name if seconds is None else f"{name} ({seconds:.0f} s)")

    def advance(self, elapsed: float, note: str = "") -> None:
        """Say how far it is, not too often."""
        if time.monotonic() - self._said < _PLAIN_EVERY_S:
            return
        self._said = time.monotonic()
        left = "" if self._seconds is None else f", {max(0.0, self._seconds - elapsed):.0f} s left"
        self._print(f"{self._name}: {elapsed:.0f} s{left}{f', {note}' if note else ''}")


def progress_on(console: Console) -> TerminalProgress | PlainProgress:
    """Choose by what the console is."""
    return TerminalProgress(console) if console.is_terminal else PlainProgress(console)
