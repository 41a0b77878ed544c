"""The four tiers for a user without rights: on the loopback that is there, and all taken down."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.command import NOBODY, OWN_LOOPBACK
from tests.pace import pace

pytestmark = pytest.mark.slow

SCRIPT = """
import http.client, json, sys
from datetime import date
from pathlib import Path
from tierlab import experiment
from tierlab.environments.ledger import Ledger, accounts
from tierlab.environments.native.native import Native
from tierlab.workloads.workload import DataKey
from tierlab.deploy.system import System

root = Path(sys.argv[1])
shape = experiment.System.of({"workload": "rubbos", "scale": 0.0005})
native = Native(Ledger("plain"), work_root=root)
data = DataKey(shape.scale, 1, date(2026, 11, 20))
content = shape.application.content(native, data, shape.fidelity)
system = System(shape, content, native, root / "logs")
try:
    system.start(lambda step: None)
    page = http.client.HTTPConnection("127.0.1.1", 8080, timeout=20)
    page.request("GET", "/rubbos/servlet/BrowseCategories")
    status = page.getresponse().status
    system.check()
    subjects = {subject.name: subject.pids for subject in system.subjects()}
    cgroups = [subject.cgroups for subject in system.subjects()]
finally:
    system.stop()
    native.destroy()
left = [account.trial for account in accounts()]
print(json.dumps({"status": status, "pids": subjects, "cgroups": cgroups, "left": left}))
"""


@pytest.fixture
def place() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="plain", dir="/var/tmp"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


def test_a_page_goes_through_all_tiers_without_any_right(place: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(place)]
    if os.geteuid() == 0:
        command = [*OWN_LOOPBACK, *NOBODY, *command]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=240 * pace(),
        check=False,
        cwd="/",
        env={
            **os.environ,
            "XDG_STATE_HOME": str(place / "state"),
            "XDG_CACHE_HOME": str(place / "cache"),
        },
    )
    if "Permission denied" in done.stderr and "python" in done.stderr:
        pytest.skip("this source tree cannot be read by another user")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["status"] == 200
    assert list(found["pids"]) == ["web.1", "app.1", "lb.1", "db.1"]
    assert found["cgroups"] == [{}, {}, {}, {}]
    assert found["left"] == []
    assert not [pid for pids in found["pids"].values() for pid in pids if psutil.pid_exists(pid)]
    assert sorted(path.name for path in place.iterdir()) == ["cache", "logs", "state"]
    assert (place / "logs/app.1/logs/access.log").read_text()
