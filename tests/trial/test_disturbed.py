"""Disturbances are really made at their times, leave no trace of the truth, and are undone."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import statistics
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tierlab as api
from tests.command import Command, Ended, Start
from tests.conftest import Traces, host
from tests.pace import wait_until
from tests.trial.conftest import EXPERIMENT
from tierlab.analysis.observed import observe
from tierlab.diagnosis import diagnose
from tierlab.observe import agent
from tierlab.tables.run import Run
from tierlab.trial.truth import Happened, TruthFolder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

MS = 10**6
S = 10**9
NEAR_NS = 20 * MS
TELLING = re.compile(rb"disturb|\.truth|inject|\bfreeze\b", re.IGNORECASE)
"""What only somebody who knows of the disturbances would write."""
CONCLUSIONS = {"findings.json", "report.html"}
"""What is made of the rest, and may well say that a server was frozen."""

DISTURBED = """
[observe]
thread_interval = "200ms"

[[disturb]]
class = "freeze"
on = "db.1"
at = "1s"
duration = "400ms"

[[disturb]]
class = "lock"
at = "2500ms"
duration = "300ms"

[[disturb]]
class = "random"
classes = ["freeze"]
subjects = ["web.1", "app.1", "lb.1"]
at = "3500ms"
longest = "500ms"

[[disturb]]
class = "loss"
on = "db.1"
at = "5s"
duration = "400ms"
share = 0.5

[[disturb]]
class = "restart"
on = "web.1"
at = "6500ms"
duration = "400ms"
"""
RUNTIME_S = 8
"""So short a trial tells which processes work, and when they were replaced, only where they are
looked at more often than once a second."""

Write = Callable[..., Path]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A disturbed trial: where it was run, and what was said."""
    folder = tmp_path_factory.mktemp("blind")  # the path is in the logs
    file = folder / "t.toml"
    file.write_text(EXPERIMENT.format(name="t", users=200, up=4, run=RUNTIME_S, down=1) + DISTURBED)
    done = Command(folder, "run", file).end()
    assert done.status == 0, done.stderr
    return folder, done


@pytest.fixture(scope="module")
def run(ended: tuple[Path, Ended]) -> Run:
    return api.open(ended[0] / "runs" / "t" / "001")


@pytest.fixture(scope="module")
def truth(run: Run) -> TruthFolder:
    return TruthFolder.of(run.path)


@pytest.mark.alone
def test_each_came_to_pass_at_its_time(run: Run, truth: TruthFolder) -> None:
    runtime = run.manifest.phase("runtime")
    assert runtime is not None
    asked = tomllib.loads((truth.path / "disturb.toml").read_text())["disturb"]
    planned = json.loads((truth.path / "agent.disturb.json").read_text())["disturbances"]
    happened = sorted(truth.happened(), key=lambda each: each.id)

    assert [each.class_ for each in happened] == ["freeze", "lock", "freeze", "loss", "restart"]
    assert [each["on"] for each in asked] == [each.subject for each in happened]
    late, late_in_the_end = [], []
    for each, plan in zip(happened, planned, strict=True):
        assert each.done
        assert each.start_ns is not None
        assert each.end_ns is not None
        assert each.start_ns < plan["start_ns"] + plan["duration_ns"]
        late.append(each.start_ns - plan["start_ns"])
        late_in_the_end.append(each.end_ns - plan["start_ns"] - plan["duration_ns"])
    # Never early. Now and then it is told late, where others have the agent's core or the database
    # is slow to give a lock back, and a restart is over when the last workers are there.
    assert min(late + late_in_the_end) >= -MS
    assert statistics.median(late) < NEAR_NS
    assert statistics.median(late_in_the_end) < NEAR_NS
    starts = [each["start_ns"] - runtime.start_ns for each in planned]
    assert starts == pytest.approx([1 * S, 2.5 * S, 3.5 * S, 5 * S, 6.5 * S], abs=5 * MS)


def waited(run: Run, it: Happened) -> int:
    """Requests that were under way at its end and had been for a while."""
    assert it.end_ns is not None
    requests = run.requests.to_pandas()
    caught = requests[(requests.start_ns < it.end_ns - 50 * MS) & (requests.end_ns > it.end_ns)]
    return len(caught)


@pytest.mark.alone
def test_requests_waited_for_it(run: Run, truth: TruthFolder) -> None:
    """Nobody was answered by a database that stood still."""
    (first, *_) = sorted(truth.happened(), key=lambda each: each.id)
    (plan, *_) = json.loads((truth.path / "agent.disturb.json").read_text())["disturbances"]
    assert first.start_ns is not None
    # What waits for its core stops when it gets it; and it goes on before the agent can tell.
    since, until = first.start_ns + 100 * MS, plan["start_ns"] + plan["duration_ns"]
    visits = run.visits.to_pandas()
    left = visits[(visits.server == "db.1") & (visits.departure_ns > since)]

    assert left.departure_ns.min() > until - MS
    assert waited(run, first) > 0


@pytest.mark.alone
def test_lost_packets_and_a_restart_are_named(run: Run, truth: TruthFolder) -> None:
    found = diagnose(observe(run)).findings
    for each in truth.happened():
        if each.class_ in {"loss", "restart"}:
            assert each.start_ns is not None
            assert each.end_ns is not None
            named = {
                (finding.cause, finding.subject)
                for finding in found
                for window in finding.windows
                if window.start_ns < each.end_ns + 500 * MS and window.end_ns > each.start_ns
            }
            # On a busy machine something else may be found beside it.
            assert (each.class_, each.subject) in named


def texts(run: Run) -> Iterator[tuple[Path, bytes]]:
    """Every file of the run folder, tables as the text in them."""
    for path in sorted(run.path.rglob("*")):
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            for name, column in zip(table.column_names, table.columns, strict=True):
                yield path, name.encode()
                if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
                    yield path, "\n".join(map(str, column.unique().to_pylist())).encode()
        elif path.is_file():
            yield path, path.read_bytes()


@pytest.mark.alone
def test_the_run_folder_tells_nothing_of_it(
    ended: tuple[Path, Ended], run: Run, truth: TruthFolder
) -> None:
    planned = json.loads((truth.path / "agent.disturb.json").read_text())["disturbances"]
    starts = {str(each["start_ns"]).encode() for each in planned}
    found = {
        (path.name, word)
        for path, text in texts(run)
        if path.name not in CONCLUSIONS
        for word in (*TELLING.findall(text), *(start for start in starts if start in text))
    }

    assert not found
    assert "disturb" not in run.manifest.plan
    assert "disturb" not in ended[1].stdout + ended[1].stderr


@pytest.mark.alone
def test_the_same_trial_is_diagnosed_alike_without_the_truth(run: Run, truth: TruthFolder) -> None:
    before = api.open(run.path).path / "findings.json"
    said = before.read_text() if before.exists() else None
    hidden = truth.path.with_name("elsewhere")
    truth.path.rename(hidden)
    try:
        reported = Command(run.path.parents[2], "report", run.path).end()
    finally:
        hidden.rename(truth.path)

    assert reported.status == 0, reported.stderr
    assert said is None or before.read_text() == said


STOPPED = """
[[disturb]]
class = "freeze"
on = "db.1"
at = "1s"
duration = "10s"

[[disturb]]
class = "lock"
at = "2s"
duration = "8s"
"""


def of_the_database(command: Command) -> psutil.Process:
    (database,) = command.programs("mariadbd")
    return database


def stands(process: psutil.Process) -> bool:
    return process.is_running() and process.status() == psutil.STATUS_STOPPED


def wait_until_stopped(database: psutil.Process) -> None:
    wait_until(lambda: database.status() == psutil.STATUS_STOPPED, "the database's stop", 30)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_ends_the_trial_in_the_middle_of_it_undoes_it(
    number: signal.Signals, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(up=4, run=12, more=STOPPED))
    command.wait_for("runtime")
    database = of_the_database(command)
    wait_until_stopped(database)
    command.signal(number)
    if number == signal.SIGKILL:
        command.kill()
        wait_until(lambda: not stands(database), "the database's going on", 5)
        assert tierlab("clean").end().status == 0
    else:
        assert command.end().status == 130

    assert not database.is_running() or database.status() == psutil.STATUS_ZOMBIE
    traces = Traces(f"t-001-{command.process.pid}", tmp_path / "state")
    assert traces.none(), traces.found()
    assert not (changed := host().unlike(before)), changed
    happened = TruthFolder.of(tmp_path / "runs" / "t" / "001").happened()
    (stopped,) = [each for each in happened if each.class_ == "freeze"]
    assert stopped.end_ns is not None
    assert stopped.start_ns is not None
    assert stopped.end_ns - stopped.start_ns < 10 * S


def test_one_that_cannot_be_made_fails_the_trial_in_a_sentence_that_the_run_folder_lacks(
    tierlab: Start, experiment: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = tmp_path / "tierlab-agent"
    said = "disturbance 1 (freeze on db.1) cannot be made: the moon is full"
    refusing.write_text(
        f'#!/bin/sh\n[ "$1" = disturb ] && {{ echo "tierlab-agent: {said}" >&2; exit 1; }}\n'
        f'exec {agent.binary()} "$@"\n'
    )
    refusing.chmod(refusing.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("TIERLAB_AGENT", str(refusing))
    ended = tierlab("run", experiment(up=4, run=12, more=STOPPED)).end()

    assert said in ended.sentence
    run = tmp_path / "runs" / "t" / "001"
    assert json.loads((run / "manifest.json").read_text())["exit"]["error"] == (
        f"the trial did not go as planned; {Path('runs', 't', '001.truth')} says why."
    )
