"""Events by core and control group, against what the kernel counts by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from .conftest import Group, Start

pytestmark = pytest.mark.privileged

EVENTS = ["page-faults", "context-switches"]
FAULTS = 20_000
WORK = """
import json, mmap, resource
input()
for _ in range(10):
    with mmap.mmap(-1, {pages} * mmap.PAGESIZE) as fresh:
        for page in range({pages}):
            fresh[page * mmap.PAGESIZE] = 1
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used.ru_minflt + used.ru_majflt, used.ru_nvcsw + used.ru_nivcsw]), flush=True)
input()
"""


@pytest.fixture
def unified(group: Group) -> Iterator[Group]:
    """A group of version 2, wherever that is mounted."""
    mounted = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    roots = [Path(target) for _, target, kind, *_ in mounted if kind == "cgroup2"]
    if not roots:
        pytest.skip("this machine has no control groups of version 2")
    name = next(iter(group.folders.values())).name
    made = Group({"unified": roots[0] / name})
    made.make()
    yield made
    made.remove()


def switches() -> int:
    """Of the whole machine, since it was started."""
    lines = Path("/proc/stat").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("ctxt")).split()[1])


def worker(core: int) -> Popen[str]:
    """Faults fresh pages in on one core, once it is told to, and says what it had in all."""
    return Popen(
        ["taskset", "--cpu-list", str(core), sys.executable, "-c", WORK.format(pages=FAULTS // 10)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def say(process: Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_a_group_has_its_own_events_on_the_core_where_it_runs(start: Start, unified: Group) -> None:
    core = max(os.sched_getaffinity(0))
    before_all = switches()
    with worker(core) as process:
        unified.add(process.pid)
        sampling = start(tables=["counters"], events=EVENTS, subjects=[unified.subject("app.1")])
        ready = switches()
        say(process)
        assert process.stdout is not None
        faults, switched = json.loads(process.stdout.readline())
        ending = switches()
        sampling.ticks()
        say(process)
    sampling.stop()
    after = switches()
    counters = sampling.table("counters")

    assert set(counters.domain) == {"app.1", "host"}
    assert set(counters.source) == {"software"}
    assert counters[["binary", "symbol", "period", "stack"]].isna().all().all()
    own = counters[counters.domain == "app.1"]
    sums = own.groupby("event")["count"].sum()
    # What it had while it was started is not among them; the pages that it was told to have are.
    assert FAULTS <= sums["page-faults"] <= faults
    assert 0 < sums["context-switches"] <= switched + 2
    assert own[own.cpu != core]["count"].sum() == 0
    everybodys = counters[counters.event == "context-switches"]["count"].sum()
    assert ending - ready <= everybodys <= after - before_all
    assert (counters["count"] >= 0).all()


def test_a_group_that_comes_later_is_counted_from_then_on(start: Start, unified: Group) -> None:
    unified.remove()
    sampling = start(tables=["counters"], events=EVENTS, subjects=[unified.subject("app.1")])
    sampling.ticks()
    unified.make()
    sampling.ticks(25)
    with worker(min(os.sched_getaffinity(0))) as process:
        unified.add(process.pid)
        say(process)
        assert process.stdout is not None
        process.stdout.readline()
        sampling.ticks()
        say(process)
    sampling.stop()
    counters = sampling.table("counters")
    own = counters[(counters.domain == "app.1") & (counters.event == "page-faults")]
    assert own["count"].sum() >= FAULTS
    assert own.t_ns.min() > counters.t_ns.min()


def test_what_the_processor_does_not_count_is_named(start: Start) -> None:
    wanted = ["instructions", "page-faults"]
    sampling = start(tables=["counters"], events=wanted)
    sampling.ticks()
    missing = sampling.stop()["not_measured"]
    counted = set(sampling.table("counters").event)
    assert "page-faults" in counted
    assert ("instructions" in counted) != ("counters.instructions" in missing)


def test_a_subject_that_cannot_be_told_apart_is_named(start: Start, tmp_path: Path) -> None:
    no_group = tmp_path / "no-group"
    no_group.mkdir()
    subjects = [
        {"name": "app.1", "pids": [os.getpid()]},
        {"name": "db.1", "cgroups": {"unified": str(no_group)}},
    ]
    sampling = start(tables=["counters"], events=["page-faults"], subjects=subjects)
    sampling.ticks()
    said = sampling.stop()["not_measured"]["counters.domain"]
    assert "app.1 (no control group of version 2)" in said
    assert "db.1 (perf_event_open: " in said
    assert set(sampling.table("counters").domain) == {"host"}
