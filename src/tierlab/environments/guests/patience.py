"""How long a machine that boots is waited for: by what it computes, not by the clock.

A busy host gives its hypervisor less of a processor, and it takes as much longer to boot; one that
computes much more than any boot needs, or nothing at all, never will.
"""

from __future__ import annotations

import time

import psutil

LOOK_SECONDS = 60.0
STILL = 0.05
"""Share of a processor below which a hypervisor only keeps its clocks."""


class Patience:
    """With the hypervisor whose process id is `pid`: for so many seconds of processor time."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid, self._most = pid, self._used(pid) + seconds
        self._looked, self._then = time.monotonic(), self._used(pid)

    def is_over(self) -> bool:
        """Whether it computes too much or too little, or is gone."""
        now, used = time.monotonic(), self._used(self._pid)
        if now - self._looked > LOOK_SECONDS:
            if used - self._then < STILL * (now - self._looked):
                return True
            self._looked, self._then = now, used
        return used > self._most

    @staticmethod
    def _used(pid: int) -> float:
        try:
            times = psutil.Process(pid).cpu_times()
        except psutil.Error:
            return float("inf")
        return times.user + times.system
