"""However a trial ends, the machine is as it was and what was measured can be read."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

import tierlab as api
from tests.command import SECONDS, Start
from tests.conftest import host
from tests.pace import wait_until
from tests.sample.conftest import table
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
PROFILED = "[observe.profile]\n"
"""In a second of such users' there is enough to be read."""
LEAST = {"requests": 5, "raw_visits": 20, "cpu": 20}
"""Rows, by stream, in what a killed trial leaves."""


def trial_of(place: Path) -> Run:
    return api.open(place / "runs" / "t" / "001")


def wait_until_it_has_lived(place: Path) -> None:
    """The first thing that is done about the tables is to say in the manifest how it ended."""
    run = place / "runs" / "t" / "001"
    wait_until(lambda: read(run).exit.state != "running", "its end", SECONDS, nap=0.005)


def check_whole(run: Run) -> None:
    """Each page that came is among the visits; how many came in a second is the machine's."""
    with run.connect() as db:
        (pages,) = db.execute("SELECT count(*) FROM requests WHERE error IS NULL").fetchall()[0]
        (visits,) = db.execute("SELECT count(*) FROM visits WHERE server = 'web.1'").fetchall()[0]
    assert visits >= pages > 0


@pytest.mark.parametrize("stage", ["start servers", "runtime"])
def test_ctrl_c_while_it_lives_leaves_nothing(
    stage: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(up=1, run=9, more=BRISK + PROFILED))
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
        assert run.counters.count().execute() > 0
    assert not (run.path / "streams").exists()


def test_ctrl_c_once_it_has_lived_does_not_disturb_its_tables(
    tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    """While it is taken down, and then while its report is written."""
    before = host()
    command = tierlab("run", experiment(up=0, run=1, down=0, one_server=True, more=BRISK))
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
    check_whole(run)
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
    (balancer,) = command.programs("haproxy")
    balancer.kill()
    ended = command.end()
    assert "lb.1" in ended.sentence
    assert "signal 9" in ended.sentence
    check_nothing_left(command, tmp_path, before)
    assert trial_of(tmp_path).manifest.exit.state == "failed"


def rows(streams: Path, name: str) -> int:
    """How many of a stream's are on the disk."""
    with suppress(OSError, pa.ArrowInvalid):
        return len(table(streams, name))
    return 0


@pytest.mark.parametrize("stage", ["start servers", "runtime", "take down"])
def test_kill_9_then_clean_leaves_nothing_and_the_data_readable(
    stage: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    """In the middle of the stage, when there is something to be removed and to be read."""
    before = host()
    runtime = 1 if stage == "take down" else 60
    command = tierlab("run", experiment(up=0, run=runtime, down=0, more=BRISK + PROFILED))
    command.wait_for(stage)
    if stage == "runtime":
        streams = tmp_path / "runs" / "t" / "001" / "streams"
        wait_until(lambda: all(rows(streams, each) > LEAST[each] for each in LEAST), "rows", 30)
    elif stage == "start servers":
        time.sleep(1)
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
        assert run.requests.count().execute() > LEAST["requests"]
        assert run.visits.count().execute() > LEAST["raw_visits"]
        assert run.cpu.count().execute() > LEAST["cpu"]
    if stage == "runtime":
        assert "app.1" in set(run.counters.execute().domain)


def test_kill_9_once_it_has_lived_loses_nothing(
    tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(up=0, run=1, down=0, one_server=True, more=BRISK))
    command.wait_for("tables")
    wait_until_it_has_lived(tmp_path)
    command.kill()
    assert tierlab("clean").end().status == 0
    check_nothing_left(command, tmp_path, before)

    reported = tierlab("report", Path("runs", "t", "001")).end()
    assert reported.status == 0, reported.stderr
    run = trial_of(tmp_path)
    assert run.manifest.exit.state == "done"
    check_whole(run)
    assert {path.suffix for path in run.path.iterdir() if path.is_file()} == {
        *(".json", ".parquet", ".html")
    }
