"""The command for a user without rights: it does what it may and says what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import tierlab as api
from tests.command import NOBODY, OWN_LOOPBACK
from tests.pace import pace

pytestmark = pytest.mark.slow

EXPERIMENT = """
[experiment]
name = "plain"
[system]
workload = "rubbos"
scale = 0.0005
{more}
[load]
users = 5
think = "200ms"
phases = {{ ramp_up = "0s", runtime = "2s", ramp_down = "0s" }}
"""
MAIN = "import sys; from tierlab.cli.main import main; sys.argv[0] = 'tierlab'; main()"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that this user may write to."""
    made = Path(tempfile.mkdtemp(prefix="plain", dir="/var/tmp"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


def run(place: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    """Run the experiment, as nobody if this is root."""
    (place / "plain.toml").write_text(EXPERIMENT.format(more=more))
    command = [sys.executable, "-c", MAIN, "run", "plain.toml"]
    if os.geteuid() == 0:
        command = [*OWN_LOOPBACK, *NOBODY, *command]
    places = {"XDG_STATE_HOME": str(place / "state"), "XDG_CACHE_HOME": str(place / "cache")}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=240 * pace(),
        check=False,
        cwd=place,
        env={**os.environ, **places, "NO_COLOR": "1"},
    )
    if "Permission denied" in done.stderr and "python" in done.stderr:
        pytest.skip("this source tree cannot be read by another user")
    return done


def test_what_needs_privilege_is_said_not_to_be_measured(place: Path) -> None:
    done = run(place)
    assert done.returncode == 0, done.stderr
    trial = api.open(place / "runs" / "plain" / "001")
    assert trial.manifest.exit.state == "done"
    assert set(trial.missing) == {"visits", "domain"}
    assert "CAP_NET_RAW" in trial.missing["visits"]
    assert not [key for key in trial.manifest.not_measured if key.endswith("(end)")]
    assert trial.requests.count().execute() >= 5  # each user asks for something
    assert trial.process.subject.nunique().execute() == 4
    failed = trial.requests.error.execute().dropna()
    assert set(failed) <= {"cut"}, "of those under way at the end"
    assert (trial.path / "logs/app.1/logs/access.log").read_text()
    processes = {int(pid) for pid in trial.process.process.execute().dropna()}
    assert not [pid for pid in processes if psutil.pid_exists(pid)]
    assert not list((place / "state").rglob("*.jsonl"))
    assert {each.name for each in place.iterdir()} == {"cache", "plain.toml", "runs", "state"}


def test_a_placement_that_is_not_allowed_is_one_sentence(place: Path) -> None:
    done = run(place, '[system.db]\nmemory = "1GiB"')
    assert done.returncode == 2
    sentence = done.stderr.splitlines()[-1]
    assert sentence.startswith("tierlab: system.db.memory: the native environment cannot limit")
    assert "control groups need root" in sentence
    assert not (place / "cache").exists(), "no data is made for a trial that cannot be"
    assert not list((place / "state").rglob("*.jsonl"))
