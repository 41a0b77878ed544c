"""The whole system when its owner is killed, and when the disk is full."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from talk import LOAD_DAY, SCALE

from tests.pace import pace
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.servers.mariadb_seed import MariaDBSeed
from tierlab.servers.seed import seed_folder
from tierlab.workloads.kinds import WORKLOADS
from tierlab.workloads.workload import DataKey

if TYPE_CHECKING:
    from tests.conftest import Traces

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

OWNER = """
import sys, time
from datetime import date
from pathlib import Path
from tierlab import experiment
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.errors import UserError
from tierlab.workloads.workload import DataKey
from tierlab.deploy.system import System

trial, work_root, scale = sys.argv[1:]
shape = experiment.System.of({"workload": "rubbos", "scale": float(scale)})
native = Native(Ledger(trial), work_root=Path(work_root))
data = DataKey(shape.scale, 1, date(2026, 11, 20))
content = shape.application.content(native, data, shape.fidelity)
system = System(shape, content, native, Path(work_root) / f"{trial}-logs")
try:
    system.start(lambda step: print(step, flush=True))
    print("up", flush=True)
    time.sleep(600)
except UserError as error:
    print(error, flush=True)
finally:
    try:
        system.stop()
    except UserError as error:
        print(error, flush=True)
    native.destroy()
"""
TIERLAB = [sys.executable, "-c", "from tierlab.cli.main import main; main()"]


@pytest.fixture(autouse=True)
def _need_root(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


@pytest.mark.parametrize("step", ["db: seed data", "app.1: tomcat", "up"])
def test_clean_removes_all_after_the_owner_is_killed(trial: str, traces: Traces, step: str) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, trial, "/var/tmp", str(SCALE)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    said = []
    for line in owner.stdout:
        said.append(line.strip())
        if said[-1] == step:
            break
    owner.kill()
    owner.wait()
    owner.stdout.close()
    assert said[-1] == step, said
    left = traces.found()
    assert left["folders"]
    # What makes the data may have begun since.
    assert left["processes"] or step == "db: seed data"
    cleaned = subprocess.run([*TIERLAB, "clean"], capture_output=True, text=True, check=False)
    assert cleaned.returncode == 0, cleaned.stderr
    assert f"{trial}: cleaned" in cleaned.stdout
    assert not any(traces.found().values()), traces.found()


@pytest.mark.parametrize(("size", "cached"), [("16m", False), ("52m", True)])
def test_a_full_disk_is_a_sentence_and_nothing_is_left(
    traces: Traces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str, cached: bool
) -> None:
    """A disk too small for the seed to be built on, and one too small for servers with a copy."""
    if cached:
        build_seed(traces.trial)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty cache"))
    # Not below tmp_path, which the servers' user may not enter.
    disk = Path(tempfile.mkdtemp(prefix="disk", dir="/var/tmp"))
    disk.chmod(0o755)
    # A mount namespace of its own: the small disk goes with its last process.
    script = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, "sh", size, str(disk)]
    done = subprocess.run(
        [*command, sys.executable, "-c", OWNER, traces.trial, str(disk), str(SCALE)],
        capture_output=True,
        text=True,
        timeout=120 * pace(),
        check=False,
    )
    disk.rmdir()
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    said = done.stdout.splitlines()
    assert "up" not in said
    assert ("db.1: mariadb" in said) == cached
    assert re.search(r"needs \d+ MiB and no more than \d+ MiB are left on that disk", said[-1])
    assert not any(traces.found().values()), traces.found()


def build_seed(trial: str) -> None:
    native = Native(Ledger(f"{trial}s"))
    try:
        data = DataKey(SCALE, 1, LOAD_DAY)
        content = WORKLOADS["rubbos"].content(native, data, "corrected")
        seed_folder(native, MariaDBSeed(), content)
    finally:
        native.destroy()
