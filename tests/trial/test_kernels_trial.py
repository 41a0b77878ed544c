"""Parallel kernels as a system of their own: placed, beside neighbours, seen, removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import needs
from tests.trial.left import check_nothing_left
from tierlab.tables.run import Run
from tierlab.workloads.kernels.jobs import SIZES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

EXPERIMENT = """
[experiment]
name = "t"
[system]
workload = "kernels"
environment = "{environment}"
scale = 0.0005
[system.compute]
soft = {{ job_threads = 2 }}
mapping = {{ place = "pu:0", vcpus = 1 }}
{more}
[load]
users = 3
think = "50ms"
phases = {{ ramp_up = "{up}s", runtime = "{run}s", ramp_down = "0s" }}
"""
NEIGHBOURS = "[system.neighbours]\ncount = 1\nplace = 'pu:0'\n"
FAULT = '[[disturb]]\nclass = "freeze"\non = "compute.1"\nat = "500ms"\nduration = "400ms"\n'


def jobs_done(run: Run) -> list[list[str]]:
    """The lines of the server's log; its first ones are of whoever asked whether it is ready."""
    log = run.path / "logs" / "compute.1" / "logs" / "console.log"
    return [line.split() for line in log.read_text().splitlines() if not line.endswith(" /")]


def test_jobs_run_where_they_are_placed_and_every_one_is_a_visit(
    tierlab: Start, tmp_path: Path
) -> None:
    before, file = host(), tmp_path / "t.toml"
    file.write_text(EXPERIMENT.format(environment="native", more=NEIGHBOURS, up=0, run=2))
    command = tierlab("run", file)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)

    run = api.open(tmp_path / "runs" / "t" / "001")
    done = jobs_done(run)
    assert {line[3] for line in done} == {"200"}
    assert {line[5].partition("?")[0] for line in done} == {f"/{kernel}" for kernel in SIZES}
    assert run.manifest.mapping["compute.1"]["found"]["pus"] == [0]
    assert run.manifest.versions["kernels"]
    with run.connect() as db:
        ids = db.execute("SELECT request_id FROM requests WHERE error IS NULL").fetchall()
        labels = db.execute("SELECT label, status FROM visits").fetchall()
    # Nothing is lost between the users, the wire and the server's own log.
    assert sorted(name for (name,) in ids) == sorted(line[2] for line in done)
    visited = [label for label, status in labels if status == 200 and not label.endswith(" /")]
    assert len(visited) == len(done)


@pytest.mark.environments
def test_a_fault_is_felt_and_told(tierlab: Start, tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(EXPERIMENT.format(environment="native", more="", up=5, run=3) + FAULT)
    ended = tierlab("run", file).end()
    assert ended.status == 0, ended.stderr

    told = json.loads((tmp_path / "runs" / "t" / "001" / "findings.json").read_text())
    assert "freeze" in {each["cause"] for each in told["findings"]}, told


@pytest.mark.environments
@pytest.mark.timeout(3600)
@needs("qemu")
def test_a_kernel_runs_in_a_guest(tierlab: Start, tmp_path: Path) -> None:
    """In one of QEMU's; in Xen's they are in test_xen_trial.py."""
    before, file = host(), tmp_path / "t.toml"
    file.write_text(EXPERIMENT.format(environment="qemu", more="", up=0, run=6))
    command = tierlab("run", file, "--set", "load.mix=barriers")
    ended = command.end(3500)
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)

    run = api.open(tmp_path / "runs" / "t" / "001")
    assert run.manifest.environment == "qemu"
    done = jobs_done(run)
    assert len(done) > 3
    assert all(line[3] == "200" and line[5].startswith("/barriers?") for line in done)
    with run.connect() as db:
        (visits,) = db.execute("SELECT count(*) FROM visits WHERE label != 'GET /'").fetchall()[0]
    assert visits == len(done)
