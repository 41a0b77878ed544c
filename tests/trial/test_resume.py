"""Which of an experiment's trials are there already: what `--resume` does not run again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tierlab.experiment import Experiment, TrialPlan
from tierlab.tables.manifest import Manifest, Owner, read
from tierlab.trial.resume import finished, remove_leftovers
from tierlab.trial.truth import TruthFolder

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

FILE = {
    "experiment": {"name": "e"},
    "system": {"workload": "rubbos"},
    "load": {"users": 10, "phases": {"ramp_up": "5s", "runtime": "30s"}},
    "factors": {"load.users": [10, 20], "repeat": 2},
    "disturb": [{"class": "freeze", "on": "db.1", "at": "random", "duration": "100ms"}],
}


def plans(**tables: Any) -> tuple[TrialPlan, ...]:
    return Experiment.from_tables(FILE | tables).trials()


def lived(folder: Path, plan: TrialPlan, state: str = "done", **changes: Any) -> Manifest:
    """A run folder of a plan as it is when its trial has ended so."""
    folder.mkdir()
    if plan.disturb:
        TruthFolder.of(folder).create(plan.disturb)
    manifest = made_run.manifest(plan=plan.as_file(), exit={"state": state}, **changes)
    manifest.write(folder)
    return manifest


def test_those_that_are_done_stay_and_broken_ones_are_repeated(tmp_path: Path) -> None:
    first, second, third, fourth = plans()
    lived(tmp_path / "001", first)
    lived(tmp_path / "002", second, "failed")
    lived(tmp_path / "003", third, "interrupted")
    lived(tmp_path / "004", fourth)
    lived(tmp_path / "005", second)

    there = finished(tmp_path, plans())

    assert there == {"001": tmp_path / "001", "002": tmp_path / "005", "004": tmp_path / "004"}


def test_a_repetition_is_told_by_its_seed_and_a_disturbance_by_its_moment(tmp_path: Path) -> None:
    (first, *_) = plans()
    lived(tmp_path / "001", first)

    assert list(finished(tmp_path, plans())) == ["001"]
    assert not finished(tmp_path, plans(experiment={"name": "e", "seed": 5}))
    assert not finished(tmp_path, plans(disturb=[]))


def test_the_words_of_the_question_and_the_objective_may_change(tmp_path: Path) -> None:
    (first, *_) = plans()
    lived(tmp_path / "001", first)

    changed = plans(experiment={"name": "e", "question": "And now?"}, objective={"p99": "1s"})

    assert list(finished(tmp_path, changed)) == ["001"]


def test_a_plan_of_an_earlier_version_has_the_defaults_of_this_one(tmp_path: Path) -> None:
    (first, *_) = plans()
    manifest = lived(tmp_path / "001", first)
    del manifest.plan["experiment"]["very_long"]
    manifest.write(tmp_path / "001")

    assert list(finished(tmp_path, plans())) == ["001"]


@pytest.mark.parametrize("text", ["{", '{"plan": 3}'])
def test_a_manifest_that_cannot_be_read_is_no_finished_trial(tmp_path: Path, text: str) -> None:
    (tmp_path / "001").mkdir()
    (tmp_path / "001" / "manifest.json").write_text(text)

    assert not finished(tmp_path, plans())


KILLED = """
import os, sys
from pathlib import Path
from tierlab.environments.files import make_folder
from tierlab.environments.ledger import Ledger

make_folder(Ledger(f"{sys.argv[1]}-001-7"), Path(sys.argv[2]))
os._exit(9)
"""


def test_what_killed_trials_of_the_experiment_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for experiment in ("mine", "other"):
        folder = str(tmp_path / f"tierlab-{experiment}")
        subprocess.run([sys.executable, "-c", KILLED, experiment, folder], check=False)

    (removed,) = remove_leftovers("mine")

    assert removed == f"removed folder {tmp_path}/tierlab-mine"
    assert not (tmp_path / "tierlab-mine").exists()
    assert (tmp_path / "tierlab-other").exists()
    assert not remove_leftovers("mine")


def test_a_trial_that_was_killed_is_finished_and_repeated(tmp_path: Path) -> None:
    (first, *_) = plans()
    lived(tmp_path / "001", first, "running", owner=Owner(pid=2**22 + 1, start=1))
    (tmp_path / "001" / "streams").mkdir()
    (tmp_path / "001" / "logs").mkdir()

    assert not finished(tmp_path, plans())
    assert read(tmp_path / "001").exit.state == "failed"
