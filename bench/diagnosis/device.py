"""When did the machine's own disk stand still? Nobody injects that, and yet it is there.

The virtual disk of a shared machine stops for tenths of a second now and then. What is said of it
is neither right nor wrong by what was injected, so it is left out, and counted. The block device's
own counters tell when: the diagnosis judges by what tasks waited for, and not by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
from score import BEFORE_NS, touches
from truth import Injected

from tierlab.diagnosis import Diagnosis
from tierlab.diagnosis.causes import checkpoint, cold_cache, disk, memory
from tierlab.diagnosis.finding import Window

SLOW_NS = 3_000_000
"""Requests take 0.1 ms in the median of ticks, 0.5 to 1.1 ms in 95 of 100: several times that on
average says that some of them waited for tens of milliseconds."""

USERS = {checkpoint.NAME, cold_cache.NAME, disk.NAME, memory.NAME}
"""Causes that keep the device busy themselves."""


def slow_ticks(run: Path) -> list[Window]:
    """Return the ticks in which a block device finished nothing while requests were in flight, or
    in which those that it finished had taken 3 ms and more on average.
    """
    table = run / "disk.parquet"
    if not table.exists():
        return []
    rows = duckdb.execute(
        """SELECT t_ns - dt_ns, t_ns FROM read_parquet($file)
        WHERE (reads + writes = 0 AND in_flight > 0)
            OR read_time_ns + write_time_ns >= $slow * (reads + writes) AND reads + writes > 0
        ORDER BY t_ns""",
        {"file": str(table), "slow": SLOW_NS},
    ).fetchall()
    return [Window(start_ns=start, end_ns=end) for start, end in rows]


def users(true: Sequence[Injected]) -> list[Injected]:
    """Return the disturbances that kept the device busy themselves."""
    return [each for each in true if each.cause in USERS]


def without(
    diagnosis: Diagnosis, ticks: Sequence[Window], using: Sequence[Injected]
) -> tuple[Diagnosis, list[Window]]:
    """Return the diagnosis less the windows of a disk that was slow then by nobody's doing, and
    those; ``using`` is what kept it busy.
    """
    kept, dropped = [], []
    for each in diagnosis.findings:
        natural = [one for one in each.windows if _natural(each.cause, one, ticks, using)]
        windows = [one for one in each.windows if one not in natural]
        if windows:
            kept.append(each.model_copy(update={"windows": windows}))
        dropped += natural
    return diagnosis.model_copy(update={"findings": kept}), dropped


def _natural(
    cause: str, window: Window, ticks: Sequence[Window], using: Sequence[Injected]
) -> bool:
    if cause != disk.NAME or any(touches(window, each) for each in using):
        return False
    begin = window.start_ns - BEFORE_NS
    return any(each.start_ns < window.end_ns and each.end_ns > begin for each in ticks)
