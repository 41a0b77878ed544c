"""Somebody who uses a database that is disturbed."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from dataclasses import dataclass

from tests.disturb.databases import Database


@dataclass
class Client:
    """Runs one statement over and over, and takes its times."""

    database: Database
    statement: str
    pause: float = 0.002

    def __post_init__(self) -> None:
        self.times: list[tuple[int, int]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with closing(self.database.connect()) as connection, closing(connection.cursor()) as cursor:
            while not self._stop.is_set():
                began = time.time_ns()
                cursor.execute(self.statement)
                self.times.append((began, time.time_ns()))
                time.sleep(self.pause)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(timeout=30)

    def within(self, from_ns: int, until_ns: int) -> list[tuple[int, int]]:
        """The statements that began and ended in this span."""
        return [(b, e) for b, e in self.times if from_ns <= b and e < until_ns]

    def across(self, moment_ns: int) -> list[tuple[int, int]]:
        """The statements that were under way then."""
        return [(b, e) for b, e in self.times if b < moment_ns <= e]

    def stands(self, seconds: float) -> bool:
        """Whether its statement has been answered, but not for so long."""
        times = self.times[-1:]
        return any(time.time_ns() - ended > seconds * 1e9 for _, ended in times)

    def longest(self, from_ns: int, until_ns: int) -> int:
        """Of the statements that were under way in this span."""
        return max((e - b for b, e in self.times if e > from_ns and b < until_ns), default=0)

    def took(self, from_ns: int, until_ns: int) -> list[int]:
        """Of the statements that began in this span."""
        return [e - b for b, e in self.times if from_ns <= b < until_ns]
