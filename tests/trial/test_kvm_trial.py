"""A server in a guest by KVM on the second socket: from hwloc's words in a file to the manifest.

Most machines that tests run on lack both: test_kvm_nested.py runs this in an emulated host.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import Start
from tests.conftest import host
from tests.environments.guests import FAR_NODE, no_kvm
from tests.figures import figure
from tests.trial.left import check_nothing_left
from tierlab.machine.hwloc import pus_at
from tierlab.tables.run import Run

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
phases = {{ ramp_up = "1s", runtime = "5s", ramp_down = "1s" }}
"""


def test_a_place_on_the_second_socket_is_where_a_server_runs(
    tierlab: Start, tmp_path: Path
) -> None:
    file = tmp_path / "t.toml"
    file.write_text(PLACED)
    before = host()
    command = tierlab("run", file)
    ended = command.end(3500)
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)
    run = Run(tmp_path / "runs" / "t" / "001")
    assert run.manifest.accelerator == "kvm"
    found = run.manifest.mapping["web.1"]["found"]
    assert (found["pus"], found["nodes"]) == (list(pus_at(PLACE)), [FAR_NODE])
    assert (found["weight"], found["memory"]) == (512, 256 << 20)
    with run.connect() as db:
        (served,) = db.execute("SELECT count(*) FROM requests WHERE error IS NULL").fetchall()[0]
    assert served > 3
    figure(f"{served} pages served")
