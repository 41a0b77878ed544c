"""However a trial ends, the machine is as it was and what was measured can be read."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

import tierlab as api
from tests.command import SECONDS, Start
from tests.conftest import host
from tests.trial.left import check_nothing_left, traces_of
from tierlab.tables.manifest import read
from tierlab.tables.run import Run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

Write = Callable[..., Path]


BRISK = 'think = "500ms"\n'
"""In a second of such users' there is enough to be read."""


def trial_of(place: Path) -> Run:
    return api.open(place / "runs" / "t" / "001")


def wait_until_it_has_lived(place: Path) -> None:
    """The first thing that is done about the tables is to say in the manifest how it ended."""
    deadline = time.monotonic() + SECONDS
    while read(place / "runs" / "t" / "001").exit.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("stage", ["start servers", "runtime"])
def test_ctrl_c_while_it_lives_leaves_nothing(
    stage: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(up=1, run=9, more=BRISK))
    command.wait_for(stage)
    command.signal(signal.SIGINT)
    ended = command.end()
    assert ended.status == 130, ended.stderr
    check_nothing_left(command, tmp_path, before)
    run = trial_of(tmp_path)
    assert run.manifest.exit.state == "interrupted"
    if stage != "start servers":
        assert run.has("requests")
        assert run.cpu.count().execute() > 0
    assert not (run.path / "streams").exists()


def test_ctrl_c_once_it_has_lived_does_not_disturb_its_tables(
    tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    """While it is taken down, and then while its report is written."""
    before = host()
    command = tierlab("run", experiment(up=0, run=1, down=0, more=BRISK))
    for stage in ("take down", "report"):
        command.wait_for(stage)
        command.signal(signal.SIGINT)
    ended = command.end()
    folder = Path("runs", "t", "001")
    assert ended.status == 130, ended.stderr
    assert ended.stderr.splitlines()[-1] == (
        f"tierlab: interrupted; the trial is complete, and `tierlab report {folder}` writes its"
        " report."
    )
    check_nothing_left(command, tmp_path, before)
    run = trial_of(tmp_path)
    assert run.manifest.exit.state == "done"
    assert run.visits.count().execute() > 100
    assert not list(run.path.glob("*.part"))
    assert not (run.path / "streams").exists()
    assert tierlab("report", folder).end().status == 0
    assert (run.path / "report.html").exists()


def test_a_server_that_dies_fails_the_trial_in_a_sentence(
    tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(run=20))
    command.wait_for("runtime")
    children = psutil.Process(command.process.pid).children(recursive=True)
    (balancer,) = [child for child in children if child.name() == "haproxy"]
    balancer.kill()
    ended = command.end()
    assert "lb.1" in ended.sentence
    assert "signal 9" in ended.sentence
    check_nothing_left(command, tmp_path, before)
    assert trial_of(tmp_path).manifest.exit.state == "failed"


@pytest.mark.parametrize(
    ("stage", "seconds"),
    [("start servers", 1.0), ("runtime", 2.0), ("take down", 0.1)],
)
def test_kill_9_then_clean_leaves_nothing_and_the_data_readable(
    stage: str, seconds: float, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    """Some seconds into the stage, so that there is something to be removed and to be read."""
    before = host()
    runtime = 1 if stage == "take down" else 9
    command = tierlab("run", experiment(up=0, run=runtime, down=0, more=BRISK))
    command.wait_for(stage)
    time.sleep(seconds)
    while traces_of(command, tmp_path).none():
        assert command.process.poll() is None
        time.sleep(0.05)
    command.kill()
    assert not traces_of(command, tmp_path).none(), "a killed trial cannot have tidied up"

    cleaned = tierlab("clean").end()
    assert cleaned.status == 0, cleaned.stderr
    assert "cleaned" in cleaned.stdout
    check_nothing_left(command, tmp_path, before)

    reported = tierlab("report", Path("runs", "t", "001")).end()
    assert reported.status == 0, reported.stderr
    run = trial_of(tmp_path)
    assert "its process ended before" in str(run.manifest.exit.error)
    if stage != "start servers":
        assert run.requests.count().execute() > 5
        assert run.visits.count().execute() > 20
        assert run.cpu.count().execute() > 20


def test_kill_9_once_it_has_lived_loses_nothing(
    tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(up=0, run=1, down=0, more=BRISK))
    command.wait_for("tables")
    wait_until_it_has_lived(tmp_path)
    command.kill()
    assert tierlab("clean").end().status == 0
    check_nothing_left(command, tmp_path, before)

    reported = tierlab("report", Path("runs", "t", "001")).end()
    assert reported.status == 0, reported.stderr
    run = trial_of(tmp_path)
    assert run.manifest.exit.state == "done"
    assert run.visits.count().execute() > 100
    assert {path.suffix for path in run.path.iterdir() if path.is_file()} == {
        *(".json", ".parquet", ".html")
    }
