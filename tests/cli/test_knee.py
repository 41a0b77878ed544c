"""`tierlab run --find-knee`: a search on a real server, what it refuses, and `--resume`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import typer

from tests.analysis.test_knee import SECONDS, windows
from tests.command import Start
from tierlab.analysis.knee.search import first_loads
from tierlab.analysis.knee.step import Windows
from tierlab.cli import knee
from tierlab.cli.sweep import GO_ON
from tierlab.errors import Interrupted, UserError
from tierlab.experiment import Experiment, Objective, TrialPlan
from tierlab.experiment.rising import check_searchable, rising

S = 10**9
FILE: dict[str, Any] = {
    "experiment": {"name": "e"},
    "system": {"workload": "static"},
    "load": {"users": 30, "phases": {"runtime": "25s", "ramp_up": "2s"}},
    "objective": {"p99": "1s"},
}
TEXT = """
[experiment]
name = "{name}"
dollars_per_month = 60.0
[system]
workload = "static"
[load]
users = 5
think = "50ms"
phases = {{ ramp_up = "1s", runtime = "5s", ramp_down = "0s" }}
[observe]
samplers = "none"
messages = false
[objective]
p99 = "1us"
"""


def test_a_trial_of_the_search_rises_in_steps_of_a_fifth_of_the_runtime() -> None:
    (plan,) = Experiment.from_tables(FILE).trials()

    trial = rising(plan, first_loads(30), "002")

    assert (trial.trial, trial.load.users, trial.levels) == ("002", 30, {"load.users": 30})
    assert trial.load.phases.runtime_ns == 50 * S
    curve = trial.load.shape.curve(50 * S)
    assert [(at, round(level * 30)) for at, level in curve[::2]] == [
        (5 * S * step, 3 * (step + 1)) for step in range(10)
    ]
    assert trial.objective == Objective(), "it is to be missed"
    (again,) = Experiment.from_tables(trial.as_file()).trials()
    assert again.load.shape.curve(50 * S) == curve


@pytest.mark.parametrize(
    ("tables", "what"),
    [
        ({"load": {"users": 3, "shape": {"kind": "day"}}}, "my.toml: load.shape: the search"),
        (
            {
                "system": {"workload": "rubbos"},
                "disturb": [{"class": "freeze", "on": "db.1", "at": "6s", "duration": "100ms"}],
            },
            "my.toml: [[disturb]]: the knee",
        ),
        (
            {"change": [{"at": "2s", "on": "web.1", "weight": 512}]},
            "my.toml: [[change]]: the knee",
        ),
        ({"objective": {"errors": 0.01}}, "my.toml: objective.errors: requests fail after"),
    ],
)
def test_what_cannot_be_searched_is_one_sentence(tables: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError) as raised:
        check_searchable(Experiment.from_tables(FILE | tables, "my.toml"))
    assert str(raised.value).startswith(what)


def test_errors_alone_are_searched_where_they_show_within_a_step() -> None:
    """Requests that fail after a minute were booked five steps of 12 s later."""
    timeouts = {"timeouts": {"connect": "1s", "request": "2s"}}
    tables = {"load": {**FILE["load"], **timeouts}, "objective": {"errors": 0.01}}
    check_searchable(Experiment.from_tables(FILE | tables))


def test_a_benchmark_s_rules_bound_times_beside_errors() -> None:
    """What keeps nobody waiting for long needs no other bound; it was refused."""
    objective = {"objective": {"errors": 0.01, "rules": True}}
    check_searchable(Experiment.from_tables(OLIO | objective))


OLIO: dict[str, Any] = {
    "experiment": {"name": "e"},
    "system": {"workload": "olio", "scale": 0.03},
    "load": {"users": 25, "phases": {"runtime": "25s", "ramp_up": "2s"}},
}


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """A search whose trials are made up: each user has ten requests a second, and the trial of a
    number may fail, or end by another error; where none does, the driver did not keep pace in any.
    """

    def search(fails: int | None, error: Exception | None = None) -> Path:
        trials: list[TrialPlan] = []

        def run(asked: Experiment, runs: Path, *_: Any, **__: Any) -> list[Path]:
            trials.extend(asked.trials())
            if len(trials) == fails:
                raise error or UserError("the trial failed.")
            return [runs / f"{len(trials):03}"]

        def steps(*_: Any) -> list[Windows]:
            load = trials[-1].load
            levels = {level for _, level in load.shape.curve(load.phases.runtime_ns)}
            counts = [round(level * (load.users or 0)) for level in sorted(levels)]
            return [windows(n, np.full(round(10 * SECONDS) * n, 0.01)) for n in counts]

        def observed(folder: Path) -> MagicMock:
            made = MagicMock()
            made.run.manifest.trial = folder.name
            return made

        monkeypatch.setattr(knee, "run_trials", run)
        monkeypatch.setattr(knee, "Run", lambda folder: folder)
        monkeypatch.setattr(knee, "observe", observed)
        monkeypatch.setattr(knee, "driver", lambda *_: MagicMock(was_bottleneck=fails is None))
        monkeypatch.setattr(knee, "steps", steps)
        knee.find_knees(Experiment.from_tables(OLIO, "my.toml"), tmp_path, json=False)
        return tmp_path

    return search


def test_a_search_that_the_data_end_says_so_and_that_there_is_no_knee(
    searched: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e").mkdir()
    with pytest.raises(typer.Exit) as ended:
        searched(None)
    assert ended.value.exit_code == 1
    said = capsys.readouterr().out
    assert "Up to 30 users, throughput follows the load: the knee is above that." in said
    assert "The data of system.scale 0.03 are for 30 users: a larger scale is needed" in said
    (found,) = json.loads((tmp_path / "e" / "knee.json").read_text())["found"]
    assert (found["trials"], found["knee"]["load"]) == (["001", "002"], None)
    # No trial's report was shown, as none is of those that were there before.
    assert found["driver_limited"] == ["001", "002"]


def test_what_a_search_found_is_said_though_it_fails(
    searched: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e").mkdir()
    with pytest.raises(UserError, match=r"the trial failed\. The same command with --resume"):
        searched(2)
    assert "Up to 25 users, throughput follows the load" in capsys.readouterr().out


def test_how_to_go_on_is_said_once(searched: Callable[..., Path], tmp_path: Path) -> None:
    """What breaks a trial off may say it itself; it was said twice."""
    (tmp_path / "e").mkdir()
    with pytest.raises(Interrupted) as ended:
        searched(2, Interrupted(f"interrupted; {GO_ON}."))
    assert str(ended.value) == "interrupted; the same command with --resume goes on."


@pytest.mark.slow
@pytest.mark.environments
@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_search_on_a_real_server_and_its_answer_again(
    start: Start, place: Path, trial: str
) -> None:
    """No page comes within a microsecond: the search ends with a single user."""
    file = place / "my.toml"
    file.write_text(TEXT.format(name=trial))

    ended = start("run", file, "--find-knee", "--json").end()

    assert ended.status == 0, ended.stderr
    (found,) = json.loads(ended.stdout)["found"]
    shown = found["knee"]
    assert (found["trials"], shown["low"], shown["is_closed"]) == (["001"], 0, True)
    assert [round(step["load"]) for step in shown["steps"]] == list(range(1, 6))
    for step in shown["steps"]:
        # N = X (R + Z): who thinks 50 ms, and waits hardly at all.
        expected = step["load"] / (0.05 + step["mean_s"])
        assert step["throughput"] == pytest.approx(expected, abs=5 * (expected / 0.7) ** 0.5)
        assert step["failed"] == 0
    folder = place / "runs" / trial
    assert json.loads((folder / "knee.json").read_text())["found"] == [found]
    page = (folder / "knee.html").read_text(encoding="utf-8")
    assert "Not even at" in page
    assert 'href="001/report.html"' in page

    again = start("run", file, "--find-knee", "--json", "--resume").end()

    assert json.loads(again.stdout)["found"] == [found]
    assert not (folder / "002").exists()
