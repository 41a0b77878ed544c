"""A trial in which the machine itself was slower is left out of the proof, named, and scored beside
it: the driver took more CPU time for the same requests.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import conduct
import machine
import pytest
import scoring
from campaign import Planned
from truth import Injected

from bench.diagnosis import run
from tierlab.diagnosis import Diagnosis

from . import made_stall
from .made_stall import LENGTH, MS, START
from .test_calibration import finding

SECOND = 1_000 * MS
COST = 400_000
"""Nanoseconds of the driver's CPU for a request, where the machine is as it should be."""


def trial(kind: str, number: int, load: str) -> Planned:
    return Planned(f"{kind}-{number}", kind, load, "", 1)


def made(folder: Path, slower: float = 1.0, meanwhile: float = 1.0, cost: int = COST) -> Path:
    """A run of 50 requests/s; ``meanwhile`` is how much more the driver took within 10 seconds."""
    folder.mkdir(parents=True)
    made_stall.manifest().write(folder)
    each = SECOND // 50
    requests = [{"intended_ns": t, "end_ns": t} for t in range(START, START + LENGTH, each)]
    records = []
    for n in range(LENGTH // SECOND):
        spent = 50 * cost * slower * (meanwhile if 10 <= n < 20 else 1)
        records.append(
            {"t_ns": START + n * SECOND, "duration_ns": SECOND, "kind": "driver_lag"}
            | {"subject": "driver", "detail": json.dumps({"cpu_ns": int(spent), "starts": 50})}
        )
    made_stall.write(folder, "requests", requests)
    made_stall.write(folder, "events", records)
    return folder


def during(first_s: float, last_s: float) -> Injected:
    start, end = (START + int(at * SECOND) for at in (first_s, last_s))
    return Injected(1, "cpu", "web.1", start, end, delayed=9, held=9)


def compared(
    folder: Path, *of: tuple[Planned, float], cost: dict[str, int] | None = None
) -> machine.Paces:
    """The trials, each with how much slower the machine was."""
    costs = cost or {}
    there = [
        (each, made(folder / each.name / "001", slower, cost=costs.get(each.load, COST)))
        for each, slower in of
    ]
    return machine.paces(there, {each.name: [] for each, _ in of})


def test_ten_cases_of_a_slower_machine_became_one_overload(tmp_path: Path) -> None:
    """Each server took a quarter more CPU time, and no stolen time told of it."""
    singles = [(trial("single", n, "high"), 1.0 + n / 100) for n in range(4)]
    found = compared(tmp_path, *singles, (trial("single", 4, "high"), 1.25))
    assert found.slow == {"single-4"}
    assert "1 of 5 trials" in str(found)
    assert "left out: single-4: 1.23 times" in str(found)
    assert "The slowest of the others: single-3: 1.01 times" in str(found)


def test_what_a_request_costs_at_another_load_is_no_measure(tmp_path: Path) -> None:
    """Where few come, the driver wakes up for each of them."""
    low = [(trial("single", n, "low"), 1.0) for n in range(3)]
    high = [(trial("single", n + 3, "high"), 1.0) for n in range(3)]
    found = compared(tmp_path, *low, *high, cost={"low": 2 * COST})
    assert found.slow == frozenset()
    assert set(found.ratios.values()) == {1.0}


def test_few_of_a_kind_are_held_against_all_of_their_load(tmp_path: Path) -> None:
    one, other = trial("single", 2, "high"), trial("control", 2, "high")
    assert compared(tmp_path, (one, 1.25), (other, 1.0)).slow == {"single-2"}


def test_trials_of_a_load_that_were_all_slower_are_held_against_its_control(tmp_path: Path) -> None:
    """RUBiS' four trials at 80 % took 8 to 14 % more, which they had in common."""
    singles = [(trial("single", n, "high"), 1.08 + n / 50) for n in range(4)]
    found = compared(tmp_path, *singles, (trial("control", 2, "high"), 1.0))
    assert found.slow == {"single-2", "single-3"}


def test_trials_whose_cpus_were_busier_than_their_level_says_were_not_at_it(tmp_path: Path) -> None:
    """At 80 % of what RUBiS could serve the day before, in the trials and their control alike."""
    there = [(trial("single", n, "high"), made(tmp_path / f"single-{n}" / "001")) for n in range(2)]
    for (_, folder), busy in zip(there, (0.8, 0.91), strict=True):
        ticks = range(START + SECOND, START + LENGTH + 1, SECOND)
        rows = [{"t_ns": t, "dt_ns": SECOND, "subject": "cpu0", "busy": busy} for t in ticks]
        made_stall.write(folder, "cpu", rows)
    found = machine.paces(there, {each.name: [] for each, _ in there})
    assert found.busier == {"single-0": pytest.approx(0.0), "single-1": pytest.approx(0.11)}
    assert found.slow == {"single-1"}
    assert "left out: single-1: 1.00 times, CPUs +11% of the level" in str(found)


def test_busier_cpus_that_have_room_make_no_other_level(tmp_path: Path) -> None:
    """RUBiS at half of what it could serve had its CPUs 60 to 66 % busy: it was left out."""
    there = [(trial("single", n, "middle"), made(tmp_path / f"s-{n}" / "001")) for n in range(2)]
    for _, folder in there:
        ticks = range(START + SECOND, START + LENGTH + 1, SECOND)
        rows = [{"t_ns": t, "dt_ns": SECOND, "subject": "cpu0", "busy": 0.65} for t in ticks]
        made_stall.write(folder, "cpu", rows)
    found = machine.paces(there, {each.name: [] for each, _ in there})
    assert (found.slow, found.busier) == (frozenset(), {})


def test_a_control_that_was_slower_makes_no_other_trial_fair(tmp_path: Path) -> None:
    singles = [(trial("single", n, "high"), 1.25 if n == 3 else 1.0) for n in range(4)]
    found = compared(tmp_path, *singles, (trial("control", 2, "high"), 1.25))
    assert found.slow == {"single-3", "control-2"}


def test_what_cannot_be_compared_is_named_and_stays(tmp_path: Path) -> None:
    found = compared(tmp_path, (trial("control", 0, "low"), 1.0))
    assert found.slow == frozenset()
    assert "Not to be compared, and not left out: control-0" in str(found)


def test_too_many_users_are_not_compared(tmp_path: Path) -> None:
    """Their number differs, and what is asked of such a trial is to say that it is too much."""
    overloads = [(trial("overload", n, "beyond"), 1.0 + n) for n in range(3)]
    assert compared(tmp_path, *overloads).ratios == {}


def test_what_was_injected_makes_no_machine_slower(tmp_path: Path) -> None:
    folder = made(tmp_path / "001", meanwhile=3)
    assert machine.request_s(folder, [during(10, 19.5)]) == pytest.approx(COST / 1e9)
    assert machine.request_s(folder, [during(2, 29)]) is None


def test_a_run_without_the_drivers_records_is_not_compared(tmp_path: Path) -> None:
    folder = made(tmp_path / "001")
    made_stall.write(folder, "events", [])
    assert machine.request_s(folder, []) is None


def test_the_tables_with_the_trials_left_out_are_printed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = [
        (trial("control", n, "low"), made(tmp_path / f"control-{n}" / "001", slower))
        for n, slower in enumerate((1.0, 1.0, 1.3))
    ]
    told = Diagnosis(verdict="findings", words="", findings=[finding("disk", "db", 0)], missing={})

    class Examined:
        def __init__(self, _observed: object) -> None: ...

        def diagnosis(self) -> Diagnosis:
            return told

    monkeypatch.setattr(scoring, "Examined", Examined)
    monkeypatch.setattr(run, "VIEWS", run.VIEWS[:1])
    run.prove(conduct.Conducted(made=there, planned=Counter(control=3)))
    said = capsys.readouterr().out
    name = scoring.VIEWS[0].name
    without, with_them = said.split(f"### {name}, with the trials left out")
    assert "left out: control-2: 1.30 times" in without
    assert "(2 in 1 min)" in without
    assert "(3 in 2 min)" in with_them
