"""The proof of the diagnosis: what counts, and what one trial that fails does to the others."""

from __future__ import annotations

import conduct
import pytest
import table
import truth
from campaign import Planned
from score import Found, Score, add_pairs

from tierlab.diagnosis.finding import Window
from tierlab.tables import manifest as manifests

from . import made_stall
from .made_stall import STALL

TRIALS = [Planned(f"single-{n}", "single", "low", f"trial = {n}\n") for n in range(3)]


@pytest.fixture
def tierlab(tmp_path, monkeypatch):
    """A command that fails for one trial and leaves a run folder behind for every other."""
    made_stall.manifest().write(tmp_path)
    command = tmp_path / "tierlab"
    command.write_text(
        "#!/bin/sh\n"
        'name=$(basename "$2" .toml)\n'
        'echo "$name" >> "$4/asked"\n'
        '[ "$name" = single-1 ] && { echo no memory was found; exit 1; }\n'
        f'mkdir -p "$4/$name/001" && cp {tmp_path}/manifest.json "$4/$name/001/"\n'
    )
    command.chmod(0o755)
    monkeypatch.setattr(conduct, "TIERLAB", command)


@pytest.mark.usefixtures("tierlab")
def test_one_failed_trial_does_not_end_the_proof(tmp_path):
    found = conduct.conduct(TRIALS, tmp_path / "runs")
    assert [trial.name for trial, _ in found.made] == ["single-0", "single-2"]
    assert list(found.failed) == ["single-1"]
    log = tmp_path / "runs" / "single-1.log"
    assert str(log) in found.failed["single-1"]
    assert "no memory was found" in log.read_text()


@pytest.mark.usefixtures("tierlab")
def test_what_is_there_is_not_repeated_and_what_failed_is(tmp_path):
    runs = tmp_path / "runs"
    conduct.conduct(TRIALS, runs)
    (runs / "asked").unlink()
    conduct.conduct(TRIALS, runs)
    assert (runs / "asked").read_text().split() == ["single-1"]


@pytest.mark.usefixtures("tierlab")
def test_a_folder_of_another_seed_is_not_scored(tmp_path):
    conduct.conduct(TRIALS, tmp_path / "runs")
    other = Planned("single-0", "single", "low", "trial = 9\n")
    with pytest.raises(SystemExit, match="another trial than the one planned"):
        conduct.conduct([other], tmp_path / "runs")


def test_a_trial_that_broke_off_is_not_taken_for_one_that_went_well(tmp_path):
    folder = tmp_path / "001"
    folder.mkdir()
    assert conduct.finished(tmp_path) is None
    broken = made_stall.manifest()
    broken.exit.state = "failed"
    broken.write(folder)
    assert manifests.read(folder).exit.state == "failed"
    assert conduct.finished(tmp_path) is None


@pytest.mark.parametrize(("of", "holds"), [(10, True), (9, False)])
def test_more_than_one_failed_trial_in_ten_fails_the_proof(of, holds):
    (row,) = [
        each
        for each in table.rows(Score(trials=of, failed={"single-3": "failed: see its log"}))
        if each.what == "trials that failed"
    ]
    assert row.figure.startswith(f"1 of {of} (single-3")
    assert row.holds is holds


def injected(number: int, cause: str, subject: str, held: int) -> truth.Injected:
    return truth.Injected(number, cause, subject, STALL[0], STALL[1], 20, held)


FREEZE = Found("freeze", "web", Window(start_ns=STALL[0], end_ns=STALL[1]), 0.9)


def test_a_fault_that_held_nobody_is_not_asked_for():
    """Nothing came to the database while the web server was stopped: late requests were its own."""
    score = Score()
    add_pairs(
        score,
        "pair-0",
        [injected(1, "memory", "db.1", 0), injected(2, "freeze", "web.1", 9)],
        [FREEZE],
    )
    assert (score.pairs, score.pairs_alone) == (0, 1)


def test_a_fault_that_held_visits_is_asked_for():
    score = Score()
    true = [injected(1, "memory", "db.1", 4), injected(2, "freeze", "web.1", 9)]
    add_pairs(score, "pair-0", true, [FREEZE])
    assert (score.pairs, score.pairs_named) == (1, 0)
    assert [each.cause for _, each in score.unnamed] == ["memory"]


def test_visits_are_held_at_the_server_that_stalled_and_not_above_it(tmp_path):
    folder = made_stall.make(tmp_path / "001", "db.1")
    lines = [
        f'{{"id": {n}, "class": "freeze", "subject": "{subject}", "start_ns": {STALL[0]}, '
        f'"end_ns": {STALL[1]}, "done": true}}'
        for n, subject in enumerate(("web.1", "app.1", "db.1"), start=1)
    ]
    beside = tmp_path / "001.truth"
    beside.mkdir()
    (beside / "truth.jsonl").write_text("\n".join(lines))
    found = {each.subject: each for each in truth.read(folder)}
    assert all(each.delayed for each in found.values())
    assert found["db.1"].held >= 10
    assert found["web.1"].held == found["app.1"].held == 0
