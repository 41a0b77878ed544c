"""What watching costs is taken from trials that differ in nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tierlab.experiment import Experiment, TrialPlan
from tierlab.tables.manifest import Manifest, read
from tierlab.trial.observation_ratio import Outcome, record_ratios

CROSSED: dict[str, Any] = {
    "experiment": {"name": "cost"},
    "system": {"workload": "rubbos"},
    "load": {"users": 10},
    "factors": {
        "repeat": 3,
        "observe.samplers": ["all", "none"],
        "observe.messages": [True, False],
        "load.users": [10, 20],
    },
}


def is_watched(plan: TrialPlan) -> bool:
    return plan.observe.messages or bool(plan.observe.samplers)


def outcomes(tmp_path: Path) -> list[Outcome]:
    made = []
    for plan in Experiment.from_tables(CROSSED).trials():
        folder = tmp_path / plan.trial
        folder.mkdir()
        Manifest(
            experiment="cost",
            trial=plan.trial,
            environment="native",
            workload="rubbos",
            created_ns=0,
        ).write(folder)
        watched = is_watched(plan)
        throughput = (plan.load.users or 0) * (9.0 if watched else 10.0) + plan.repetition
        made.append(Outcome(plan, folder, throughput))
    return made


def test_each_watched_trial_is_compared_with_the_unwatched_ones_of_its_load(tmp_path: Path) -> None:
    trials = outcomes(tmp_path)
    changed = record_ratios(trials)
    assert len(changed) == 3 * 2 * 3
    for trial in trials:
        ratio = read(trial.folder).observation.throughput_ratio
        users = trial.plan.load.users or 0
        if is_watched(trial.plan):
            # The unwatched ones have repetitions 1, 2, 3: their median is that of repetition 2.
            assert ratio == pytest.approx((users * 9 + trial.plan.repetition) / (users * 10 + 2))
        else:
            assert ratio is None


def test_without_unwatched_trials_nothing_is_claimed(tmp_path: Path) -> None:
    watched = [trial for trial in outcomes(tmp_path) if is_watched(trial.plan)]
    assert record_ratios(watched) == {}
