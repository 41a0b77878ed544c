"""What the plugin writes: when, after a kill, of forked programs; and what it refuses."""

from __future__ import annotations

import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.pace import wait_until
from tests.simulated_cache.emulated import (
    EMULATOR,
    NEEDS_EMULATOR,
    compiled,
    counted,
    started,
    total,
)
from tierlab.errors import UserError
from tierlab.exchange.cache_counts import rows
from tierlab.machine import caches as machine_caches
from tierlab.machine.caches import Caches, Level, plugin

MS = 1_000_000
FIRST = "l1d:1(size=32KiB) core:1 pu:1"
CACHES = Caches(Level(1 << 15, 8), Level(1 << 15, 8), Level(1 << 20, 16), Level(1 << 23, 16))


@NEEDS_EMULATOR
def test_every_50_ms_in_the_time_of_the_other_tables(tmp_path: Path) -> None:
    program, out = compiled("forking", tmp_path), tmp_path / "counts"
    began = time.time_ns()
    found = counted(plugin(CACHES, [0], out), out, program)
    ended = time.time_ns()
    # A tick in which the program did not run, as the machine was busy, has no row.
    said = [line.split() for line in out.read_text().splitlines() if line.startswith("tick ")]
    ticks = [(int(t_ns), int(dt_ns)) for _, t_ns, dt_ns in said]
    assert len(ticks) >= 5
    assert {(row["t_ns"], row["dt_ns"]) for row in found} <= set(ticks)
    assert all(began < t_ns < ended for t_ns, _ in ticks)
    usual = sorted(dt_ns for _, dt_ns in ticks)[len(ticks) // 2]
    assert usual == pytest.approx(50 * MS, rel=0.2)
    for (before_ns, _), (t_ns, dt_ns) in pairwise(ticks):
        assert t_ns - before_ns == pytest.approx(dt_ns, abs=5 * MS), "nothing is left out"


@NEEDS_EMULATOR
def test_a_forked_program_has_a_file_of_its_own(tmp_path: Path) -> None:
    program, out = compiled("forking", tmp_path), tmp_path / "counts"
    counted(plugin(CACHES, [0], out), out, program)
    (childs,) = tmp_path.glob("counts.*")
    parent, child = list(rows(out, "parent")), list(rows(childs, "child"))
    assert "main" in {row["symbol"] for row in parent}
    assert "childs_work" in {row["symbol"] for row in child}
    assert "childs_work" not in {row["symbol"] for row in parent}
    ratio = total(child, "instructions") / total(parent, "instructions")
    assert 0.2 < ratio < 5, "the parent's counts before the fork are not the child's"
    assert out.read_text().endswith("end\n")
    assert childs.read_text().endswith("end\n")


@NEEDS_EMULATOR
def test_a_kill_loses_no_more_than_the_last_tick(tmp_path: Path) -> None:
    program, out = compiled("sharing", tmp_path), tmp_path / "counts"
    running = started(plugin(CACHES, [0], out), program, "own", "1", "1000000", "1000000")
    wait_until(lambda: out.exists() and out.read_text().count("tick") > 3, "four ticks", 20)
    running.kill()
    running.wait()
    with out.open("a") as file:
        file.write("count 0 1 99")  # half a line, as a kill leaves it
    found = list(rows(out, "killed"))
    assert len({row["t_ns"] for row in found}) >= 4
    assert "run" in {row["symbol"] for row in found}


def test_counts_of_sampled_sets_are_scaled_and_say_so(tmp_path: Path) -> None:
    out = tmp_path / "counts"
    lines = (
        *("cache user 8", "tick 1000 50", "block 1 40 - -", "count 0 1 700 300 5 0 0 2"),
        *("count 3 - 10 0 0 0 1 0", "tick 1050 50", "count 0 1 1 0 0 0 0 0", "end", ""),
    )
    out.write_text("\n".join(lines))
    found = list(rows(out, "db.1"))
    columns = ("t_ns", "cpu", "event", "count", "period")
    assert [tuple(row[name] for name in columns) for row in found] == [
        (1000, 0, "instructions", 700, None),
        (1000, 0, "memory-accesses", 300, None),
        (1000, 0, "L1-dcache-misses", 40, 8),
        (1000, 0, "LLC-misses", 16, 8),
        (1000, 3, "instructions", 10, None),
        (1000, 3, "L2-misses", 8, 8),
        (1050, 0, "instructions", 1, None),
    ]
    assert {(row["domain"], row["source"], row["dt_ns"]) for row in found} == {
        ("db.1", "simulated", 50)
    }


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("a line\n")
    with pytest.raises(UserError, match=r"notes: is no file of the simulated cache's"):
        list(rows(tmp_path / "notes", "db.1"))


@NEEDS_EMULATOR
@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("llc=1000:16", "a cache is BYTES:WAYS with whole sets"),
        ("packages=0:x", "packages: that of each vCPU"),
        ("sample=3", "sample: a power of two"),
        ("sample=128", "sample: a power of two"),
        ("line=48", "line: bytes, a power of two"),
        ("colour=red", "unknown argument"),
        ("out=/nowhere/at/all", "out: cannot be written"),
    ],
)
def test_what_the_plugin_cannot_do_it_says(argument: str, said: str, tmp_path: Path) -> None:
    asked = f"{plugin(CACHES, [0], tmp_path / 'counts')},{argument}"
    done = subprocess.run(
        [EMULATOR, "-plugin", asked, "/bin/true"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert f"tierlab-cache: {said}" in done.stderr


@NEEDS_EMULATOR
def test_a_file_of_other_caches_is_not_shared(tmp_path: Path) -> None:
    shared, out = tmp_path / "shared", tmp_path / "counts"
    shared.write_bytes(bytes(4096))
    argument = plugin(CACHES, [0], out, shared=shared)
    done = subprocess.run(
        [EMULATOR, "-plugin", argument, "/bin/true"], capture_output=True, text=True, check=False
    )
    assert "shared: no file of the size of these last-level caches" in done.stderr


def test_a_machine_of_hwlocs_tells_its_caches() -> None:
    made = machine_caches.read(f"pack:2 l3:1(size=8MiB) l2:2(size=512KiB) {FIRST}")
    assert made == Caches(Level(32 << 10, 8), None, Level(512 << 10, 16), Level(8 << 20, 16))
    assert made.one_in == 16
    with pytest.raises(UserError, match="hwloc does not know its caches"):
        machine_caches.read("pack:1 core:2 pu:1")
    with pytest.raises(UserError, match=r"L2Cache of 500000 bytes .* 16 ways"):
        machine_caches.read(f"pack:1 l2:1(size=500000) {FIRST}")


def test_sets_that_are_looked_up_are_sets_of_every_cache() -> None:
    uneven = Caches(Level(1 << 15, 8), None, None, Level(24 * 64 * 16, 16))
    assert uneven.one_in == 8
