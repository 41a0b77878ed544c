"""An experiment of several trials: one fails in the middle, Ctrl-C ends it, `--resume` goes on."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.command import Command, Start
from tierlab.tables.manifest import Manifest, read

EXPERIMENT = """
[experiment]
name = "{name}"
[system]
workload = "static"
[load]
rate = 10.0
phases = {{ ramp_up = "0s", runtime = "2s", ramp_down = "0s" }}
[observe]
samplers = "none"
messages = false
[factors]
"load.rate" = [10.0, 20.0, 30.0]
"""


def web_server(command: Command) -> psutil.Process:
    """The web server's first process: the others are its own."""
    found = command.programs("apache2", "httpd")
    (first,) = [each for each in found if each.parent() not in found]
    return first


def manifests(place: Path, trial: str) -> list[Manifest]:
    """Those of all trials, in the order in which they were made."""
    return [read(each.parent) for each in sorted((place / "runs" / trial).glob("*/manifest.json"))]


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_trial_fails_in_the_middle_ctrl_c_ends_the_sweep_and_resume_goes_on(
    start: Start, place: Path, trial: str
) -> None:
    file = place / "my.toml"
    file.write_text(EXPERIMENT.format(name=trial))

    command = start("run", file)
    command.wait_for("runtime", trial="trial 2 of 3")
    web_server(command).kill()
    command.wait_for("runtime", trial="trial 3 of 3")
    command.signal(signal.SIGINT)
    broken = command.end()

    assert broken.status == 130, broken.stderr
    assert "trial 2 of 3 failed: web.1" in broken.stderr
    assert "--resume goes on" in broken.stderr.splitlines()[-1]
    states = [(each.factors["load.rate"], each.exit.state) for each in manifests(place, trial)]
    assert states == [(10.0, "done"), (20.0, "failed"), (30.0, "interrupted")]

    resumed = start("run", file, "--resume", "--json").end()

    assert resumed.status == 0, resumed.stderr
    assert "1 of 3 trials are there already" in resumed.stderr
    states = [(each.factors["load.rate"], each.exit.state) for each in manifests(place, trial)[3:]]
    assert states == [(20.0, "done"), (30.0, "done")]
    lines = [json.loads(line) for line in resumed.stdout.splitlines()]
    assert [line["folder"] for line in lines] == [f"runs/{trial}/004", f"runs/{trial}/005"]
    assert all(isinstance(line["findings"], list) for line in lines)
    page = (place / "runs" / "index.html").read_text(encoding="utf-8")
    assert [page.count(f'state {state}">') for state in ("done", "failed", "interrupted")] == [
        3,
        1,
        1,
    ]

    again = start("run", file, "--resume").end()

    assert (again.status, again.stdout) == (0, "")
    assert len(manifests(place, trial)) == 5
