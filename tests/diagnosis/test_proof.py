"""The proof of the diagnosis: what counts, and what one trial that fails does to the others."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import conduct
import pytest
import scoring
import table
import truth
from beyond import was_beyond
from campaign import Planned
from score import Found, Score, add_pairs, add_single

from bench.diagnosis import run
from tierlab.diagnosis import Diagnosis
from tierlab.diagnosis.finding import Window
from tierlab.tables import manifest as manifests

from . import made_overload, made_stall
from .made_stall import STALL

TRIALS = [Planned(f"single-{n}", "single", "low", f"trial = {n}\n", 1) for n in range(3)]


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
    other = Planned("single-0", "single", "low", "trial = 9\n", 1)
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


def test_a_trial_that_went_well_when_tried_again_is_told_of(tmp_path, capsys):
    """It was in no row that it had failed before: the table was of those that went well."""
    broken = made_stall.manifest()
    broken.exit.state = "failed"
    (trial,) = TRIALS[:1]
    (tmp_path / f"{trial.name}.toml").write_text(trial.text)
    for name, manifest in (("001", broken), ("002", made_stall.manifest())):
        (tmp_path / trial.name / name).mkdir(parents=True)
        manifest.write(tmp_path / trial.name / name)
    found = conduct.conduct([trial], tmp_path)
    assert found.again == {"single-0": 1}
    run.prove(replace(found, made=[]))
    assert "single-0 went well only when tried again (failed: 1)" in capsys.readouterr().out


def test_the_last_of_several_runs_that_went_well_is_the_trial(tmp_path):
    """Beside an earlier one lay what troubles had been made in the last one, and when."""
    for name in ("001", "002"):
        (tmp_path / name).mkdir()
        made_stall.manifest().write(tmp_path / name)
    assert conduct.finished(tmp_path) == tmp_path / "002"


def scored(**counts) -> Score:
    """A score of trials that were planned, of each kind so many, with one single that failed."""
    failed = {"failed": {"single-3": "see its log"}, "failed_kinds": Counter(single=1)}
    return Score(planned=Counter(counts), **failed)


def row_of(score: Score, what: str) -> table.Row:
    (row,) = [each for each in table.rows(score) if each.what == what]
    return row


@pytest.mark.parametrize(("of", "holds"), [(10, True), (9, False)])
def test_more_than_one_failed_trial_in_ten_fails_the_proof(of, holds):
    row = row_of(scored(single=of, control=20), "single trials that failed")
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


def test_a_wrong_second_cause_is_counted():
    """A window that touches a disturbance was well founded, whatever it named."""
    single, pair = Score(), Score()
    wrong = replace(FREEZE, cause="pool", tier="app")
    far = replace(FREEZE, window=Window(start_ns=0, end_ns=1))
    unknown = replace(FREEZE, cause="unknown")
    true = [injected(1, "freeze", "web.1", 9)]
    add_single(single, "single-0", true, [FREEZE, wrong, far, unknown])
    add_pairs(pair, "pair-0", true, [FREEZE, wrong, far, unknown])
    assert (single.named, single.named_right) == (pair.named, pair.named_right) == (2, 1)
    single.planned["single"] = 1
    assert row_of(single, "causes named that were there").holds is False


def test_one_window_over_a_whole_trial_recalls_all_of_it_and_is_counted():
    """Ten cases of one long overload were recall 1.00, and nothing said why."""
    later = [STALL[0] + 5 * 10**9, STALL[1] + 5 * 10**9]
    true = [injected(1, "freeze", "web.1", 9)]
    true.append(replace(true[0], number=2, start_ns=later[0], end_ns=later[1]))
    whole = replace(FREEZE, cause="overload", window=Window(start_ns=STALL[0], end_ns=later[1]))
    long, short = Score(), Score()
    add_single(long, "single-0", true, [whole])
    add_single(short, "single-0", true, [whole, FREEZE])
    assert (sum(long.recalled.values()), long.together) == (2, 2)
    assert (sum(short.recalled.values()), short.together) == (2, 1)


def test_a_disk_left_out_during_a_disturbance_is_counted_apart():
    """There it may have been an answer."""
    stalls = [FREEZE.window, Window(start_ns=0, end_ns=1)]
    true = [injected(1, "freeze", "web.1", 9)]
    told = scoring.Told(TRIALS[0], true, Diagnosis(**NOTHING), stalls, 60)
    score = scoring.score_of([told])
    assert (score.device_stalls, score.stalls_within) == (2, 1)


def test_an_overload_that_was_none_is_no_case(tmp_path):
    """On a quicker machine all who came were served at once, and "nothing abnormal" was wrong."""
    served = made_stall.make(tmp_path / "served", None)
    made_stall.manifest().model_copy(update={"load": {"users": 700}}).write(served)
    crowded = made_overload.make(tmp_path / "crowded")
    assert (was_beyond(served), was_beyond(crowded)) == (False, True)
    trial = Planned("overload-0", "overload", "beyond", "", 1)
    (told,) = scoring.told_by([nullcontext], [(trial, served)], {trial.name: []}, scoring.VIEWS[0])
    score = scoring.score_of(told)
    assert score.not_beyond == ["overload-0"]
    score.planned["overload"] = 1
    row = next(each for each in table.rows(score) if each.what == "cause overload")
    assert (row.figure, row.holds) == ("-", None)


def test_what_was_found_far_from_any_pair_is_a_false_finding():
    """It was counted nowhere: neither a cause that was there nor a window without a disturbance."""
    score = Score()
    far = replace(FREEZE, window=Window(start_ns=0, end_ns=10**9))
    add_pairs(score, "pair-0", [injected(1, "freeze", "web.1", 9)], [FREEZE, far])
    assert (sum(score.windows.values()), sum(score.founded.values())) == (2, 1)
    assert score.false == [("pair-0", far)]


def test_the_first_answer_is_what_the_report_puts_first():
    """The best fitting of its windows was taken, which no reader of a report can choose."""
    score = Score()
    after = Window(start_ns=STALL[1], end_ns=STALL[1] + 1)
    first = replace(FREEZE, cause="disk", window=after, place=0)
    add_single(
        score, "single-0", [injected(1, "freeze", "web.1", 9)], [replace(FREEZE, place=1), first]
    )
    assert score.by_cause == {"freeze": Counter(disk=1)}


@pytest.mark.parametrize(("cause", "later_ns", "founded"), [("cold_cache", 9, 1), ("disk", 9, 0)])
def test_an_emptied_cache_stays_cold_until_the_trials_end(cause, later_ns, founded):
    score, true = Score(), injected(1, cause, "db.1", 9)
    window = Window(start_ns=true.end_ns + later_ns * 10**9, end_ns=true.end_ns + later_ns * 10**9)
    add_single(score, "single-0", [true], [Found(cause, "db", window, 0.9)])
    assert sum(score.founded.values()) == founded


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("single", "recall, from 100 ms"),
        ("single", "onset, median error"),
        ("control", "false findings, undisturbed"),
        ("pair", "two at once, both named"),
    ],
)
def test_a_row_with_nothing_to_count_does_not_pass(kind, what):
    """It was left out of the table, and the proof passed without it."""
    score = Score(planned=Counter({kind: 3}))
    assert row_of(score, what).holds is None
    assert not table.holds(score)
    other = "single" if kind == "control" else "control"
    assert what not in {row.what for row in table.rows(Score(planned=Counter({other: 3})))}


def test_failures_are_counted_by_kind():
    """Two of three controls could be missing where twenty other trials went well."""
    score = Score(planned=Counter(single=20, control=3), failed_kinds=Counter(control=1))
    assert row_of(score, "control trials that failed").holds is False
    assert row_of(score, "single trials that failed").holds is True


def test_pairs_in_which_nobody_was_held_do_not_vanish():
    score = Score(planned=Counter(pair=1))
    for held in (0, 0, 9):
        true = [injected(1, "memory", "db.1", held), injected(2, "freeze", "web.1", held)]
        add_pairs(score, "pair-0", true, [FREEZE])
    assert (score.pairs, score.pairs_drawn, score.pairs_late) == (1, 3, 3)
    assert row_of(score, "pairs that count, of those drawn").holds is False
    assert "0 of all 3 with late requests" in row_of(score, "two at once, both named").figure


def test_calls_are_taken_off_what_is_usual_too(tmp_path):
    """Its calls made a server's usual stay so long that what it held itself did not show."""
    folder = made_stall.make(tmp_path / "001", None)
    rows = []
    for n in range(900):
        slow = n == 400
        a = made_stall.START + n * 20 * made_stall.MS + (STALL[0] - made_stall.START) % 20
        at = STALL[0] if slow else a
        gone = at + (180 if slow else 100) * made_stall.MS
        rows.append({"visit": 2 * n, "server": "app.1", "label": "GET /long"})
        rows[-1] |= {"arrival_ns": at, "request_end_ns": at, "departure_ns": gone}
        called = at + 100 * made_stall.MS
        rows.append({"visit": 2 * n + 1, "server": "lb.1", "label": "SELECT", "parent": 2 * n})
        rows[-1] |= {"arrival_ns": at, "request_end_ns": at, "departure_ns": called}
    made_stall.write(folder, "visits", rows)
    assert truth._held(folder, "app.1", *STALL) == 1


def test_memory_is_missed_during_the_disturbance_only(tmp_path):
    """A tick that lies in it for an eighth has waited in it for an eighth."""
    ms = made_stall.MS
    tick = {"t_ns": STALL[0] + 10 * ms, "dt_ns": 80 * ms, "subject": "db.1", "resource": "memory"}
    made_stall.write(tmp_path, "pressure", [tick | {"some": 1.0}])
    happened = {"subject": "db.1", "start_ns": STALL[0], "end_ns": STALL[1]}
    assert not truth._short_of_memory(tmp_path, happened)
    assert truth._short_of_memory(tmp_path, happened | {"start_ns": STALL[0] - 60 * ms})


def test_what_a_hung_trial_left_is_removed_before_the_next(tmp_path, monkeypatch):
    """It heeds no interrupt and is killed: its servers ran on under the next trial."""
    command = tmp_path / "tierlab"
    command.write_text(
        '#!/bin/sh\necho "$1" >> ' + str(tmp_path / "asked") + "\n"
        '[ "$1" = clean ] && exit 0\ntrap "" INT\nexec sleep 30\n'
    )
    command.chmod(0o755)
    monkeypatch.setattr(conduct, "TIERLAB", command)
    monkeypatch.setattr(conduct, "LONGEST_S", 0.2)
    monkeypatch.setattr(conduct, "TAKE_DOWN_S", 0.5)
    assert list(conduct.conduct(TRIALS[:1], tmp_path / "runs").failed) == ["single-0"]
    assert (tmp_path / "asked").read_text().split() == ["run", "clean"]


def test_the_truth_is_read_once_a_trial(tmp_path, monkeypatch, capsys):
    """It was read for each of five views, with a pass over all visits for each disturbance."""
    asked = []
    monkeypatch.setattr(truth, "read", lambda folder: asked.append(folder) or [])
    nothing = SimpleNamespace(diagnosis=lambda: Diagnosis(**NOTHING))
    monkeypatch.setattr(scoring, "Examined", lambda _observed: nothing)
    folder = made_stall.make(tmp_path / "001", None)
    made = [(trial, folder) for trial in TRIALS]
    conducted = conduct.Conducted(made=made, planned=Counter(single=3))
    assert run.prove(conducted) == 1
    assert len(asked) == len(TRIALS)
    assert "nothing to count" in capsys.readouterr().out


NOTHING = {"verdict": "nothing abnormal", "words": "", "findings": [], "missing": {}}


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
