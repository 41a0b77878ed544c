"""The CPU table's busy time against every context switch, as bpftrace sees them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.figures import figure

from .conftest import INTERVAL, Sampling, samplers
from .switches import busy_shares, recorded

pytestmark = pytest.mark.alone

SECONDS = 8
SEED = 1
SOURCES = ("cgroup_v1", "sched_switch")
PROGRAM = Path(__file__).parent / "mixed_load.py"
MOST_RMS = 3.0
MOST_LATE = 0.1
"""Of the interval. A window that is longer or shorter was ended by a tick that came late."""
LEAST_COMPARED = 0.8
"""Of the windows; where ticks are late more often than that, nothing is measured."""
MOST_DISTURBED = 0.01
"""Of the windows. While the hypervisor has the core, the kernel's own tick is late, and what it
books then is half a window's worth at once: a window that is wrong by 50 points, beside one that is
wrong by as much the other way. They are printed."""


@dataclass(frozen=True)
class Comparison:
    """Errors of `busy` under one mixed load, in percentage points."""

    rms: float
    """Of all windows but those that are left out below."""
    median: float
    compared: int
    late: int
    """Windows that were left out because a tick came late."""
    rms_of_late: float
    """Of those windows; NaN where there are none."""
    disturbed: tuple[float, ...]
    """The largest errors, `MOST_DISTURBED` of all, which were left out too."""
    busy: float
    """Mean share of time in which the cores were busy."""

    @property
    def holds(self) -> bool:
        enough = self.compared >= LEAST_COMPARED * (self.compared + self.late)
        return enough and self.rms <= MOST_RMS


@dataclass(frozen=True)
class Load:
    """A mixed load, all of its switches, and what was sampled of it by source."""

    switches: Path
    by_source: dict[str, Sampling]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """One load for all sources: a sampler is no more to the other than any process."""
    if os.geteuid() != 0 or shutil.which("bpftrace") is None:
        pytest.skip("needs root and bpftrace")
    folder = tmp_path_factory.mktemp("load")
    switches = folder / "switches"
    with recorded(switches), samplers(folder) as start:
        by_source = {source: start(tables=["cpu"], cpu_source=source) for source in SOURCES}
        subprocess.run([sys.executable, str(PROGRAM), str(SECONDS), str(SEED)], check=True)
        for sampling in by_source.values():
            sampling.stop()
        time.sleep(0.2)
    return Load(switches, by_source)


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.parametrize("source", SOURCES)
def test_busy_time_at_50_ms_is_within_3_points_of_the_context_switches(
    load: Load, source: str
) -> None:
    sampling = load.by_source[source]
    if sampling.lines[0]["cpu_source"] != source:
        pytest.skip(f"this machine has no {source}")
    comparison = compared(sampling, load.switches)
    figure(f"{source}: {comparison}")
    assert comparison.holds, comparison


def compared(sampling: Sampling, switches: Path) -> Comparison:
    """Compare window by window."""
    cpu = sampling.table("cpu")
    cores = np.array([int(core.removeprefix("cpu")) for core in cpu.subject])
    windows = cpu[["t_ns", "dt_ns"]].to_numpy(dtype=np.int64)
    true = busy_shares(switches, cores, windows[:, 0], windows[:, 1])
    points = 100 * np.abs(cpu.busy.to_numpy(dtype=float) - true)
    recorded_whole = ~np.isnan(points)
    assert recorded_whole.sum() > SECONDS * 10 * len(set(cores)), "too few windows were recorded"
    late = np.abs(windows[:, 1] - INTERVAL) > MOST_LATE * INTERVAL
    in_time, too_late = np.sort(points[recorded_whole & ~late]), points[recorded_whole & late]
    kept = len(in_time) - int(MOST_DISTURBED * len(in_time))
    return Comparison(
        rms=_rms(in_time[:kept]),
        median=float(np.median(in_time)),
        compared=kept,
        late=len(too_late),
        rms_of_late=_rms(too_late),
        disturbed=tuple(in_time[kept:].round(1)),
        busy=float(np.nanmean(true)),
    )


def _rms(points: np.ndarray) -> float:
    return float(np.sqrt(np.mean(points**2))) if len(points) else float("nan")
