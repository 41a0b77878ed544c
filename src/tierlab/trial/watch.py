"""A trial under load: whoever has to live is asked whether it does, and changes are made."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from tierlab.experiment.load import Load
from tierlab.observe.plans import phases
from tierlab.trial.changer import Changer
from tierlab.trial.drivers import Drivers
from tierlab.trial.progress import Progress

STAGES = {"ramp_up": "ramp-up", "runtime": "runtime", "ramp_down": "ramp-down"}
CHECK_S = 0.5


class Living(Protocol):
    """What has to live as long as the trial."""

    def check(self) -> None:
        """Raise :class:`UserError` when it has died."""


def watch(
    load: Load, drivers: Drivers, living: Sequence[Living], changer: Changer, progress: Progress
) -> None:
    """Wait for the driver's end, phase by phase; fail when a server or an agent dies."""
    end = time.monotonic() - (time.time_ns() - drivers.start_ns) / 1e9
    for phase, duration_ns in phases(load).items():
        start, end = end, end + duration_ns / 1e9
        if duration_ns:
            progress.stage(STAGES[phase], end - start)
        while drivers.running and time.monotonic() < end:
            for one in (*living, changer):
                one.check()
            progress.advance(time.monotonic() - start, drivers.note())
            time.sleep(min(CHECK_S, changer.wait_s, max(0.0, end - time.monotonic())))
    drivers.wait()
