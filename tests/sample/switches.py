"""The oracle of the CPU table: every switch between idle and busy, as bpftrace prints them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tests.pace import wait_until

PROGRAM = """
BEGIN { printf("%llu -1 0\\n", nsecs); }
END { printf("%llu -1 0\\n", nsecs); }
tracepoint:sched:sched_switch /args->prev_pid == 0 || args->next_pid == 0/ {
    printf("%llu %d %d\\n", nsecs, cpu, args->next_pid != 0);
}
"""
# tracefs is not mounted everywhere; this mount is seen by bpftrace alone.
WITH_TRACEFS = [
    *("unshare", "--mount", "--propagation", "private", "sh", "-c"),
    'mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; exec "$@"',
    "sh",
]
Ints = npt.NDArray[np.int64]


@contextmanager
def recorded(out: Path) -> Iterator[None]:
    """Record all switches into `out` while the block runs."""
    environment = {**os.environ, "BPFTRACE_PERF_RB_PAGES": "2048"}
    command = [*WITH_TRACEFS, "bpftrace", "-q", "-B", "line", "-e", PROGRAM]
    with (
        out.open("w") as lines,
        subprocess.Popen(
            command, stdout=lines, stderr=subprocess.PIPE, text=True, env=environment
        ) as bpftrace,
    ):
        try:
            wait_until(lambda: out.stat().st_size or bpftrace.poll() is not None, "a line", 30)
        finally:
            if not out.stat().st_size:
                bpftrace.kill()
        if bpftrace.poll() is not None:
            assert bpftrace.stderr is not None
            raise RuntimeError(f"bpftrace does not record: {bpftrace.stderr.read()}")
        yield
        bpftrace.send_signal(signal.SIGINT)
        _, said = bpftrace.communicate(timeout=60)
    if "Lost" in said:
        raise RuntimeError(f"bpftrace lost switches: {said}")


def busy_shares(out: Path, cores: Ints, t_ns: Ints, dt_ns: Ints) -> npt.NDArray[np.float64]:
    """Share of the window `t_ns - dt_ns .. t_ns` (UTC) in which the core was busy; NaN where the
    window is not within the recording.

    Before its first switch a core was the opposite of what it was after it. One without any switch
    was never idle, since the load and the sampler would have woken it.
    """
    lines = [line for line in out.read_text().splitlines() if line.count(" ") == 2]
    switches = np.array([line.split() for line in lines], dtype=np.int64)
    switches[:, 0] += utc_offset_ns()
    begin, end = switches[switches[:, 1] == -1, 0]
    shares = np.full(len(t_ns), np.nan)
    for core in np.unique(cores):
        of_core = switches[switches[:, 1] == core]
        of_core = of_core[np.argsort(of_core[:, 0], kind="stable")]
        before = 1 - of_core[0, 2] if len(of_core) else 1
        at = np.concatenate([[begin], of_core[:, 0], [end]])
        busy = np.concatenate([[before], of_core[:, 2]])
        until = np.concatenate([[0], np.cumsum(np.diff(at) * busy)])
        mine = cores == core
        last, first = t_ns[mine], t_ns[mine] - dt_ns[mine]
        spent = np.interp(last, at, until) - np.interp(first, at, until)
        shares[mine] = np.where((first >= begin) & (last <= end), spent / dt_ns[mine], np.nan)
    return shares


def utc_offset_ns() -> int:
    """UTC less the clock of bpftrace's `nsecs` (time since boot)."""
    tries = []
    for _ in range(50):
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        utc = time.time_ns()
        after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        tries.append((after - before, utc - (before + after) // 2))
    return min(tries)[1]
