"""The CPU table's busy time against every context switch, as bpftrace sees them."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from .conftest import Start
from .switches import busy_shares, recorded

SECONDS = 8
RUNS = 3
LOAD = Path(__file__).parent / "mixed_load.py"


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.parametrize("source", ["cgroup_v1", "sched_switch"])
def test_busy_time_at_50_ms_is_within_3_points_of_the_context_switches(
    start: Start, tmp_path: Path, source: str
) -> None:
    if os.geteuid() != 0 or shutil.which("bpftrace") is None:
        pytest.skip("needs root and bpftrace")
    errors = [rms_points(start, tmp_path / f"switches{run}", source, run) for run in range(RUNS)]
    assert statistics.median(errors) <= 3.0, errors


def rms_points(start: Start, switches: Path, source: str, seed: int) -> float:
    """Root mean square error of `busy` under one mixed load, in percentage points."""
    with recorded(switches):
        sampling = start(tables=["cpu"], cpu_source=source)
        if sampling.lines[0]["cpu_source"] != source:
            pytest.skip(f"this machine has no {source}")
        subprocess.run([sys.executable, str(LOAD), str(SECONDS), str(seed)], check=True)
        sampling.stop()
        time.sleep(0.2)
    cpu = sampling.table("cpu")
    cores = np.array([int(core.removeprefix("cpu")) for core in cpu.subject])
    windows = cpu[["t_ns", "dt_ns"]].to_numpy(dtype=np.int64)
    true = busy_shares(switches, cores, windows[:, 0], windows[:, 1])
    points = 100 * (cpu.busy.to_numpy(dtype=float) - true)
    points = points[~np.isnan(points)]
    assert len(points) > SECONDS * 18 * len(set(cores)), "too few windows were recorded"
    rms = float(np.sqrt(np.mean(points**2)))
    print(
        f"{source}: {rms:.2f} points rms, {np.abs(points).max():.1f} at most, in {len(points)} "
        f"windows {100 * np.nanmean(true):.0f} % busy"
    )
    return rms
