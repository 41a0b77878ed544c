"""A group that is held back: by its CPU quota, and by its memory limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.pace import wait_until

from .conftest import INTERVAL, Group, Start

MIB = 1 << 20


@contextmanager
def member(group: Group, code: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the group, which runs `code` from its first instruction on."""
    command = [sys.executable, "-c", f"input()\n{code}", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            group.add(process.pid)
            say(process)
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[bytes]) -> None:
    """Give it the line that it waits for."""
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


def figures(path: Path) -> dict[str, int]:
    return {key: int(value) for key, value in map(str.split, path.read_text().splitlines())}


def test_throttled_time_and_weight_are_those_of_the_group(start: Start, group: Group) -> None:
    group.make()
    if "unified" in group.folders:
        pytest.skip("needs the cpu controller of version 1")
    folder = group.folders["cpu"]
    (folder / "cpu.cfs_period_us").write_text("20000")
    (folder / "cpu.cfs_quota_us").write_text("2000")
    (folder / "cpu.shares").write_text("512")
    with member(group, "while True: pass"):
        sampling = start(tables=["domain"], subjects=[group.subject("app.1")])
        ready = figures(folder / "cpu.stat")
        sampling.ticks(24)
        ending = figures(folder / "cpu.stat")
        sampling.ticks()
        sampling.stop()
        after = figures(folder / "cpu.stat")
    domain = sampling.table("domain")
    assert ending["throttled_time"] - ready["throttled_time"] > 100_000_000
    # The first second may pass before the quota is noticed; it is then booked at once.
    sums = {"throttled_time": "throttled_ns", "nr_throttled": "throttled_periods"}
    for counter, column in sums.items():
        assert ending[counter] - ready[counter] <= domain[column].sum() <= after[counter]
    assert set(domain.weight) == {512}


def refaults(folder: Path) -> int:
    """Pages of a group that had to be read again."""
    stats = figures(folder / "memory.stat")
    return stats["total_workingset_refault_file"] + stats["total_workingset_refault_anon"]


@pytest.mark.slow
def test_major_faults_of_a_group_that_thrashes(start: Start, group: Group, tmp_path: Path) -> None:
    group.make()
    if "memory" not in group.folders:
        pytest.skip("needs the memory controller of version 1")
    folder = group.folders["memory"]
    (folder / "memory.limit_in_bytes").write_text(str(24 * MIB))
    # Version 1 counts bytes only where there is a limit: one that is never reached.
    device = tmp_path.stat().st_dev
    limit = f"{os.major(device)}:{os.minor(device)} {1 << 40}"
    (group.folders["blkio"] / "blkio.throttle.read_bps_device").write_text(limit)
    file = tmp_path / "mapped"
    with file.open("wb") as out:
        for _ in range(64):
            out.write(bytes(range(256)) * (MIB // 256))
        out.flush()
        os.fsync(out.fileno())
        os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    code = (
        "import mmap, random, sys\n"
        "input()\n"  # the sampler looks for new processes at its start, and then once a second
        "file = open(sys.argv[1], 'rb')\n"
        "mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "mapped.madvise(mmap.MADV_RANDOM)\n"
        "while True: mapped[random.randrange(len(mapped))]"
    )
    with member(group, code, str(file)) as process:
        before = refaults(folder)
        sampling = start(
            tables=["memory", "domain", "process"],
            subjects=[group.subject("db.1")],
            thread_interval_ns=INTERVAL,
        )
        ready = refaults(folder)
        say(process)
        wait_until(lambda: refaults(folder) - ready > 200, "the thrashing", 60)
        process.send_signal(signal.SIGSTOP)
        # The kernel brings the group's count up to date two seconds later, at the latest.
        time.sleep(2.5)
        stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        refaulted = refaults(folder)
        group_faults = figures(folder / "memory.stat")["total_pgmajfault"]
        hits = int((folder / "memory.failcnt").read_text())
        sampling.ticks()
        sampling.stop()
    domain, processes = sampling.table("domain"), sampling.table("process")
    assert group_faults > 100
    assert hits > 100
    assert domain.limit_hits.sum() == hits
    assert domain.major_faults.sum() == pytest.approx(group_faults, abs=2)
    # Of a machine that is short of memory the interpreter's own pages are read again as it starts.
    assert refaulted - ready - 2 <= domain.refaults.sum() <= refaulted - before + 2
    assert sampling.table("memory").refaults.sum() >= refaulted - ready - 2
    # What it had before the sampler saw it is not in its rows.
    assert processes.major_faults.sum() <= int(stat[9])
    assert processes.major_faults.sum() == pytest.approx(int(stat[9]), rel=0.5)
    assert sampling.table("memory").major_faults.sum() >= group_faults
    assert set(domain.memory_limit.dropna()) == {24 * MIB}
    assert domain.bytes_read.sum() > 4096 * 100
