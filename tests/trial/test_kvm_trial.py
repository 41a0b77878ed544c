"""A server in a guest by KVM on the second socket: from hwloc's words in a file to the manifest.

Most machines that tests run on lack both: test_kvm_nested.py runs this in an emulated host.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from tests.conftest import Traces, host
from tests.environments.guests import FAR_NODE, no_kvm
from tests.figures import figure
from tierlab.experiment import Experiment
from tierlab.machine.hwloc import pus_at
from tierlab.tables.folder import create
from tierlab.tables.run import Run
from tierlab.trial.life import run_trial
from tierlab.trial.progress import Silent

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(no_kvm() is not None, reason=str(no_kvm())),
]

PLACE = "package:1.core:0"
PLACED = f"""
[experiment]
name = "t"

[system]
workload = "static"
environment = "qemu"

[system.web]
memory = "256MiB"
mapping = {{ place = "{PLACE}", memory_node = {FAR_NODE}, weight = 512 }}

[load]
users = 2
think = "100ms"
phases = {{ ramp_up = "1s", runtime = "4s", ramp_down = "0s" }}

[observe]
samplers = []
messages = false
"""
"""Not watched: what is seen of a guest is the same whoever runs it; see test_qemu_trial.py."""


def test_a_place_on_the_second_socket_is_where_a_server_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the command around the trial: only to load it takes an emulated host a minute."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (plan,) = Experiment.from_tables(tomllib.loads(PLACED)).trials()
    before, folder = host(), create(tmp_path / "runs", plan.experiment)
    exit = run_trial(plan, folder, Silent()).exit
    assert (exit.state, exit.error) == ("done", None)
    traces = Traces(f"t-{folder.trial}-{os.getpid()}", tmp_path / "state")
    assert traces.none(), traces.found()
    assert not (changed := host().unlike(before)), changed
    run = Run(folder.path)
    assert run.manifest.accelerator == "kvm"
    found = run.manifest.mapping["web.1"]["found"]
    assert (found["pus"], found["nodes"]) == (list(pus_at(PLACE)), [FAR_NODE])
    assert (found["weight"], found["memory"]) == (512, 256 << 20)
    with run.connect() as db:
        (served,) = db.execute("SELECT count(*) FROM requests WHERE error IS NULL").fetchall()[0]
    assert served > 3
    figure(f"{served} pages served")
