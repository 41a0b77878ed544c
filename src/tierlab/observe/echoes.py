"""Echoes: how long nobody answered at an address, as its users would have it.

ping(8) asks every 10 ms and is answered by the kernel there, whatever the servers do. Unlike TCP it
sends nothing again, so that what is lost stays lost.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType

from tierlab.environments.environment import Environment
from tierlab.errors import UserError

PROGRAMS = {"ping": "iputils-ping"}
"""With the Debian package that brings it."""

INTERVAL_S = 0.01
USUAL_S = 2.0
"""How long is listened for what is usual."""
AFTER_S = 1.0
STOP_S = 5.0

S, MS, US = 1_000_000_000, 1_000_000, 1_000

_ANSWER = re.compile(
    rb"^\[(\d+)\.(\d{6})\] \d+ bytes from .* icmp_seq=(\d+) ttl=\d+ time=([\d.]+) ms$",
    re.MULTILINE,
)
_FOREVER = 'exec ping -n -D -i "$1" "$2" >"$3"'


@dataclass(frozen=True)
class Answer:
    """An answer that came."""

    t_ns: int
    number: int
    """Of its question, from 1 on."""
    waited_ns: int
    """Since its question was asked."""


@dataclass(frozen=True)
class Silence:
    """A time in which somebody asked and nobody answered.

    After a question that was never answered it begins with the answer before that question: up to
    an interval too early. One who does not come to ask, on a busy machine, makes no silence.
    """

    start_ns: int
    duration_ns: int


def longest_silence(answers: Sequence[Answer], start_ns: int, end_ns: int) -> Silence | None:
    """Of those that touch a stretch of time; None if there are fewer than two answers."""
    silences = [
        Silence(after.t_ns - waited, waited)
        for before, after in pairwise(answers)
        for waited in [_waited(before, after)]
        if after.t_ns >= start_ns and after.t_ns - waited <= end_ns
    ]
    return max(silences, key=lambda each: each.duration_ns, default=None)


def _waited(before: Answer, after: Answer) -> int:
    lost = after.number - before.number > 1
    return max(after.t_ns - before.t_ns, after.waited_ns) if lost else after.waited_ns


def lost(answers: Sequence[Answer]) -> int:
    """How many questions were not answered, up to the last one that was."""
    numbers = {answer.number for answer in answers}
    return max(numbers) - min(numbers) + 1 - len(numbers) if numbers else 0


class Echoes:
    """Asks for echoes while its context lasts; afterwards `answers` has what came."""

    def __init__(self, environment: Environment, address: str, log: Path) -> None:
        """`log`: where each answer is noted."""
        self._environment, self._address, self._log = environment, address, log
        self.answers: list[Answer] = []

    def __enter__(self) -> Echoes:
        argv = ["sh", "-c", _FOREVER, "echoes", str(INTERVAL_S), self._address, str(self._log)]
        self._asking = self._environment.spawn(argv, log=self._log.with_suffix(".err"))
        time.sleep(USUAL_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            time.sleep(AFTER_S)
        self._asking.stop(STOP_S, signal.SIGINT)
        if self._asking.stdout is not None:
            self._asking.stdout.close()
        if kind is None:
            self.answers = read_answers(self._log)


def read_answers(log: Path) -> list[Answer]:
    """Read what ping wrote; `UserError` if nobody ever answered."""
    found = [
        Answer(int(seconds) * S + int(micros) * US, int(number), round(float(waited) * MS))
        for seconds, micros, number, waited in _ANSWER.findall(log.read_bytes())
    ]
    if not found:
        errors = log.with_suffix(".err").read_text().strip() or "nobody answered"
        raise UserError(f"ping says nothing of how long nobody answered: {errors}; see {log}.")
    return found
