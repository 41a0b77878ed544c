"""How a sampler's own run ends, and what keeps it from beginning."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pace import pace
from tierlab.observe.agent import binary

from .conftest import Start

ALWAYS = ("cpu", "memory", "net", "tcp")


def test_sigterm_leaves_finished_tables(start: Start) -> None:
    sampling = start()
    sampling.ticks()
    summary = sampling.stop()
    assert summary["ticks"] > 3
    assert summary["cpu_ns"] > 0
    assert set(ALWAYS) <= set(summary["samplers"])
    for name in ALWAYS:
        assert len(sampling.table(name)) > 3
        raw = (sampling.folder / f"{name}.arrows").read_bytes()
        assert raw.endswith(b"\xff\xff\xff\xff\x00\x00\x00\x00"), f"{name} has no end of stream"


def test_kill_9_leaves_all_but_the_last_batch(start: Start) -> None:
    sampling = start()
    began = time.time_ns()
    time.sleep(2.5)
    killed = time.time_ns()
    sampling.process.kill()
    sampling.process.wait()
    for name in ALWAYS:
        last = sampling.table(name).t_ns.max()
        assert last > began, f"{name} is empty"
        assert last > killed - 1_300_000_000 * pace(), f"{name} lost more than the last second"


def test_it_goes_on_when_nobody_reads_its_words(start: Start) -> None:
    sampling = start(tables=["memory"])
    assert sampling.process.stdout is not None
    sampling.process.stdout.close()
    sampling.ticks(25)
    assert sampling.process.poll() is None
    sampling.process.send_signal(signal.SIGINT)
    assert sampling.process.wait(10) == 0
    assert len(sampling.table("memory")) > 20


def test_a_duration_ends_it(start: Start) -> None:
    sampling = start(duration_ns=500_000_000, tables=["memory"])
    said, errors = sampling.process.communicate(timeout=10)
    assert sampling.process.returncode == 0, errors
    missed = json.loads(said.splitlines()[-1])["summary"]["missed_ticks"]
    assert 8 <= len(sampling.table("memory")) + missed <= 11


def test_a_duration_that_is_longer_than_time_goes_on_does_not_end_it(start: Start) -> None:
    sampling = start(duration_ns=2**63 - 1, tables=["memory"])
    sampling.ticks(5)
    assert sampling.process.poll() is None
    assert sampling.stop()["ticks"] >= 5


@pytest.mark.parametrize(
    ("plan", "named"),
    [
        ('{"interval_ns": 50}', "interval_ns is 50"),
        ('{"interval_ns": 50000000, "tabels": []}', "unknown field `tabels`"),
        ('{"interval_ns": 50000000, "tables": ["gpu"]}', "unknown variant `gpu`"),
        ('{"interval_ns": ', "line 1"),
        ("", "line 1"),
    ],
)
def test_a_bad_plan_is_one_sentence(tmp_path: Path, plan: str, named: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan)
    command = [binary(), "sample", "--plan", str(path), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert named in done.stderr
    assert str(path) in done.stderr


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"interval_ns": 50000000}')
    command = [binary(), "sample", "--plan", str(path), "--out", str(tmp_path / "nowhere")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert "nowhere" in done.stderr


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("this machine has no /dev/full")
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"interval_ns": 10_000_000, "tables": ["memory"]}))
    (tmp_path / "memory.arrows").symlink_to("/dev/full")
    command = [binary(), "sample", "--plan", str(path), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert "memory.arrows" in done.stderr
    assert "No space left" in done.stderr
    with pa.OSFile(str(tmp_path / "sample.events.arrows"), "rb") as file:
        assert pa.ipc.open_stream(file).schema.names[0] == "t_ns"
