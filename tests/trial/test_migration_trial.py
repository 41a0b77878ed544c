"""A server moves to another host in the middle of a trial, to the report; and what fails it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Command, Start
from tests.conftest import control_groups, host
from tests.environments.obstacle import needs
from tests.figures import figure
from tests.pace import wait_until
from tests.trial.left import check_nothing_left
from tierlab.environments.capability import Capability
from tierlab.machine.programs import locate

MOVES = """
[experiment]
name = "t"

[system]
workload = "static"
environment = "qemu"

[system.web]
memory = "256MiB"
mapping = { pus = [0, 1], weight = 2048, memory_node = 0 }

[load]
users = 6
think = "100ms"
phases = { ramp_up = "2s", runtime = "15s", ramp_down = "1s" }

[[change]]
at = "3s"
on = "web.1"
host = "second"
"""
"""The smallest system that there is, driven for some time after the move."""


pytestmark = [
    pytest.mark.alone,
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two PUs"),
    pytest.mark.skipif(locate("ping") is None, reason="needs ping"),
    needs("qemu", Capability.MIGRATE),
]


def test_a_server_moves_and_its_downtime_and_requests_are_reported(
    tierlab: Start, tmp_path: Path
) -> None:
    before, file = host(), tmp_path / "t.toml"
    file.write_text(MOVES)
    command = tierlab("run", file)
    ended = command.end(3500)
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)

    trial = api.open(tmp_path / "runs" / "t" / "001")
    assert set(trial.missing) == {"database", "soft"}  # what a web server has no part in
    with trial.connect() as db:
        ((at_ns, duration_ns, text),) = db.execute(
            "SELECT t_ns, duration_ns, detail FROM events WHERE kind = 'change'"
        ).fetchall()
        # Its new hypervisor is in its control group, and watched as the old one was.
        ((vcpus, last_ns),) = db.execute(
            """SELECT count(DISTINCT thread), max(t_ns) FROM process
            WHERE subject = 'web.1' AND name LIKE 'CPU%' AND run_ns > 0"""
        ).fetchall()
    detail = json.loads(text)
    assert detail["asked"] == detail["found"] == {"host": "second"}
    assert vcpus == 2 + 2
    assert last_ns > at_ns + duration_ns
    (said,) = (line for line in ended.stdout.splitlines() if "Changed at" in line)
    assert "web.1 got host second; it moved within" in said
    (moved,) = json.loads(tierlab("report", trial.path, "--json").end().stdout)["changes"]
    move = moved["migration"]
    assert move["lost"] == move["lost_beyond"] == 0, move
    assert move["downtime_s"] > 0
    assert move["silence_s"] > move["downtime_s"] - 0.05
    # Its clock stood still with it, and was read on both sides of that.
    _, before_it, after_it, _ = trial.manifest.clocks["web.1"]
    stood = (after_it.offset_ns - before_it.offset_ns) / 1e9
    known = (before_it.uncertainty_ns + after_it.uncertainty_ns) / 1e9
    assert stood == pytest.approx(move["downtime_s"], rel=0.2, abs=0.1 + known)
    figure(str(move))


def test_a_placement_that_is_another_after_the_move_fails_the_trial(
    tierlab: Start, tmp_path: Path
) -> None:
    before, file = host(), tmp_path / "t.toml"
    file.write_text(MOVES)
    command = tierlab("run", file)
    log = tmp_path / "runs/t/001/logs/changes.jsonl"

    def moves() -> bool:
        assert command.process.poll() is None, command.end().stderr
        return log.exists()

    wait_until(moves, "the move", 3000)
    os.sched_setaffinity(first_vcpu(command), {1})
    ended = command.end(3000)
    assert ended.status != 0
    assert "web.1: the placement read back is not the one asked for" in ended.stderr
    assert "PUs 0,1 asked, 1 found" in ended.stderr
    check_nothing_left(command, tmp_path, before)


def first_vcpu(command: Command) -> int:
    """The thread of the web server's first virtual CPU."""
    trial = f"tierlab-t-001-{command.process.pid}.trial"
    group = next(folder for folder, _, _ in control_groups() if folder.endswith(f"/{trial}/web.1"))
    (pid,) = Path(group, "cgroup.procs").read_text().split()
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return next(
        int(task.name) for task in tasks if (task / "comm").read_text().startswith("CPU 0/")
    )
