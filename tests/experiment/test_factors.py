"""Crossing: how many trials, in which order, with which seeds."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan

BASE: dict[str, Any] = {
    "experiment": {"name": "e", "seed": 40},
    "system": {"workload": "rubbos"},
    "load": {"users": 10},
}


def trials(**factors: Any) -> tuple[TrialPlan, ...]:
    return Experiment.from_tables(BASE | {"factors": factors}).trials()


def test_the_first_key_varies_slowest() -> None:
    plans = trials(**{"load.users": [1, 2], "system.app.soft.threads": [10, 20, 30]})

    assert [(p.trial, p.load.users, p.system.app.soft["threads"]) for p in plans] == [
        ("001", 1, 10),
        ("002", 1, 20),
        ("003", 1, 30),
        ("004", 2, 10),
        ("005", 2, 20),
        ("006", 2, 30),
    ]
    assert plans[3].levels == {"load.users": 2, "system.app.soft.threads": 10}


def test_a_factor_may_give_what_the_file_leaves_open() -> None:
    open_file = {key: table for key, table in BASE.items() if key != "load"}

    plans = Experiment.from_tables(open_file | {"factors": {"load.users": [5, 6]}}).trials()

    assert [plan.load.users for plan in plans] == [5, 6]


def test_a_whole_table_may_be_a_level() -> None:
    phases = [{"runtime": "1s"}, {"runtime": "2s", "ramp_up": "0s"}]

    plans = trials(**{"load.phases": phases})

    found = [plan.load.phases for plan in plans]
    assert [phases.ramp_up_ns for phases in found] == [20 * 10**9, 0]
    assert [phases.runtime_ns for phases in found] == [10**9, 2 * 10**9]


def test_unquoted_dotted_keys_mean_the_same() -> None:
    assert trials(**{"load.users": [1, 2]}) == trials(load={"users": [1, 2]})


@pytest.mark.parametrize("first", [0, 1])
def test_a_table_whose_levels_would_replace_another_factor_s_is_refused(first: int) -> None:
    """Four trials ran for a minute each, and were labelled and compared as of 10 and of 20 s."""
    both = [
        ("load.phases.runtime", ["10s", "20s"]),
        ("load.phases", [{"ramp_up": "1s"}, {"ramp_up": "2s"}]),
    ]
    with pytest.raises(UserError, match=r"would replace the levels of load\.phases\.runtime"):
        trials(**dict([both[first], both[1 - first]]))


def test_a_level_does_not_leak_into_the_next_trial() -> None:
    plans = trials(**{"load": {"phases": {"runtime": ["3s", "4s"]}}, "load.think": ["1s", "2s"]})

    assert {(p.load.phases.runtime_ns, p.load.think_ns) for p in plans} == {
        (runtime * 10**9, think * 10**9) for runtime in (3, 4) for think in (1, 2)
    }
    assert BASE["load"] == {"users": 10}


def test_repetitions_are_blocks_with_a_seed_each() -> None:
    plans = trials(**{"load.users": [1, 2], "repeat": 3})

    assert [(p.repetition, p.seed, p.load.users) for p in plans] == [
        (1, 40, 1),
        (1, 40, 2),
        (2, 41, 1),
        (2, 41, 2),
        (3, 42, 1),
        (3, 42, 2),
    ]


def test_random_order_keeps_blocks_and_follows_the_seed() -> None:
    users = list(range(1, 9))

    plans = trials(**{"load.users": users, "repeat": 4, "order": "random"})

    blocks = [[p.load.users for p in plans if p.repetition == r] for r in range(1, 5)]
    assert [p.repetition for p in plans] == sorted(p.repetition for p in plans)
    assert all(sorted(block) == users for block in blocks if None not in block)
    assert len({tuple(block) for block in blocks}) > 1
    assert plans == trials(**{"load.users": users, "repeat": 4, "order": "random"})
    reseeded = BASE | {"experiment": {"name": "e", "seed": 41}}
    other = Experiment.from_tables(
        reseeded | {"factors": {"load.users": users, "repeat": 4, "order": "random"}}
    ).trials()
    assert [p.load.users for p in other] != [p.load.users for p in plans]


@pytest.mark.parametrize(("repeat", "last"), [(999, "999"), (1000, "1000")])
def test_names_sort_as_the_trials_run(repeat: int, last: str) -> None:
    names = [plan.trial for plan in trials(repeat=repeat)]

    assert names[-1] == last
    assert names == sorted(names)


@given(
    users=st.lists(st.integers(1, 10**6), unique=True, max_size=4, min_size=1),
    threads=st.lists(st.integers(1, 10**4), unique=True, max_size=4, min_size=1),
    mixes=st.lists(st.sampled_from(["read-write", "browse-only"]), unique=True, min_size=1),
    repeat=st.integers(1, 3),
    order=st.sampled_from(["stated", "random"]),
)
def test_every_combination_once_in_each_repetition(
    users: list[int], threads: list[int], mixes: list[str], repeat: int, order: str
) -> None:
    factors = {"load.users": users, "system.app.soft.threads": threads, "load.mix": mixes}

    plans = trials(**factors, repeat=repeat, order=order)

    assert len(plans) == repeat * math.prod(len(levels) for levels in factors.values())
    for repetition in range(1, repeat + 1):
        found = [
            (p.load.users, p.system.app.soft["threads"], p.load.mix)
            for p in plans
            if p.repetition == repetition
        ]
        assert sorted(map(str, found)) == sorted(
            str((u, t, m)) for u in users for t in threads for m in mixes
        )
