"""Whether this machine's clock was set while a trial ran.

Tables have times of CLOCK_REALTIME, which may be set; CLOCK_MONOTONIC is not (clock_gettime(2)).
Both are slewed alike by adjtimex(2), so that their difference changes only when the clock is set.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_NS = 10_000_000
"""A smaller step is less than the finest interval of the samplers."""
_TRIES = 8


def difference_ns() -> int:
    """Return CLOCK_REALTIME less CLOCK_MONOTONIC; the closest of some readings of both."""
    closest: tuple[int, int] | None = None
    for _ in range(_TRIES):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        reading = (after - before, real - (before + after) // 2)
        closest = reading if closest is None else min(closest, reading)
    assert closest is not None
    return closest[1]


class ClockSteps:
    """Notices steps of the clock; to be asked now and then."""

    def __init__(self, read: Callable[[], int] = difference_ns) -> None:
        self._read = read
        self._last_ns = read()
        self._steps_ns: list[int] = []

    def check(self) -> None:
        """Look whether the clock was set since the last time."""
        now_ns = self._read()
        step_ns = now_ns - self._last_ns
        if abs(step_ns) >= LEAST_NS:
            self._steps_ns.append(step_ns)
        self._last_ns = now_ns

    def note(self) -> str | None:
        """Return a sentence about the steps, if there were any."""
        if not self._steps_ns:
            return None
        largest = max(self._steps_ns, key=abs)
        way = "forward" if largest > 0 else "back"
        times = "once" if len(self._steps_ns) == 1 else f"{len(self._steps_ns)} times"
        by = f"{abs(largest) / 1e9:,.2f} s {way}"
        return (
            f"this machine's clock was set {times}, by up to {by}: times before and after a step do"
            " not fit together, and what lies across it is too long or too short by as much"
        )
