"""How near steps come to a benchmark's limits, against what is counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tierlab.analysis.knee.breaking import breaking
from tierlab.analysis.knee.limits import limits
from tierlab.analysis.knee.step import WINDOW_NS, steps, windows
from tierlab.analysis.span import Span
from tierlab.tables.rules import OperationRule, RunRules

S = 10**9
RULES = RunRules(
    operations={
        "Home": OperationRule(share=0.8, limit_ns=S),
        "Add": OperationRule(share=0.2, limit_ns=3 * S),
    },
    delay_deviation=0.02,
    most_users_per_rate=5.25,
)
ONCE = np.ones((1, 20))


def asked(user: int, name: str, at: float, took: float, **more: Any) -> dict[str, Any]:
    start = round(at * S)
    return {
        "user": user,
        "interaction": name,
        "intended_ns": start,
        "start_ns": start,
        "end_ns": start + round(took * S),
        "status": 200,
    } | more


def step_of(tiny, rows, users):
    observed = tiny({"requests": rows}, seconds=5)
    found = limits(observed.db, Span(0, 5 * S), WINDOW_NS, RULES, users)
    return found.used(ONCE)[0]


def test_the_percentile_of_each_operation_is_held_against_its_own_limit(tiny) -> None:
    homes = [asked(n, "Home", 0.1 + n * 0.1, 0.2 if n < 17 else 1.2) for n in range(20)]
    adds = [asked(50 + n, "Add", 0.1 + n * 0.1, 0.9) for n in range(10)]
    # Of 20 homes 17 took 0.2 s, so that 90 % took up to 1.2 s of 1 s.
    assert step_of(tiny, homes + adds, None) == pytest.approx(1.2, rel=0.01)
    assert step_of(tiny, homes[:17] + adds, None) == pytest.approx(0.3, rel=0.01)


def test_failed_operations_have_no_time_but_are_no_throughput(tiny) -> None:
    rows = [asked(n, "Home", 0.1 + n * 0.1, 0.1) for n in range(10)]
    failed = [asked(n, "Home", 2.0, 2.0, error="refused") for n in range(10, 20)]
    # 10 in 5 s are 2 a second: 21 users over that are 10.5, twice 5.25.
    assert step_of(tiny, rows + failed, 21) == pytest.approx(2.0)
    assert step_of(tiny, rows + failed, None) == pytest.approx(0.1, rel=0.01)


def test_a_delay_that_is_longer_than_drawn_uses_up_its_deviation(tiny) -> None:
    first = [asked(n, "Home", 0.5, 0.1) for n in range(10)]
    late = [asked(n, "Add", 2.53, 0.1, delay_ns=2 * S) for n in range(10)]
    # 2.03 s instead of 2 s are 1.5 % of the 2 % that are allowed.
    assert step_of(tiny, first + late, None) == pytest.approx(0.75, rel=0.01)


def test_steps_are_the_level_parts_of_the_curve_without_their_beginnings(tiny) -> None:
    """Ten users for 4 s, then twenty, of whom the driver counted 19 when the runtime ended."""
    curve = [[0, 10.0], [4 * S, 10.0], [4 * S, 20.0], [8 * S, 20.0]]
    lags = [
        {
            "t_ns": n * S,
            "duration_ns": S,
            "kind": "driver_lag",
            "subject": "driver",
            "detail": f'{{"users": {users}}}',
        }
        for n, users in enumerate((10, 10, 10, 10, 18, 19, 19, 19))
    ]
    # One in the first 30 % of each step, then four a second that take 0.3 s, and 0.6 s later.
    rows = [asked(0, "Home", at, 0.01) for at in (0.5, 4.5)]
    rows += [asked(n, "Home", 1.3 + n / 4, 0.3) for n in range(10)]
    rows += [asked(n, "Home", 5.3 + n / 4, 0.6) for n in range(8)]
    observed = tiny(
        {"requests": rows, "events": lags},
        seconds=8,
        load={"users": 20, "shape": {"kind": "points", "curve": curve}},
        rules=RULES,
    )

    first, second = steps(observed.db, Span(0, 8 * S), observed.run.manifest)

    assert (first.load, second.load) == (10, 19)
    assert first.seconds == second.seconds == 2.75
    assert (first.done.sum(), second.done.sum()) == (10, 8)
    assert first.step().throughput == pytest.approx(10 / 2.75)
    assert first.step().p99_s == pytest.approx(0.3, rel=0.01)
    assert first.limits is not None
    assert second.limits is not None
    once = np.ones((1, 11))
    # 10 users over 10 / 2.75 operations a second are 2.75, of 5.25.
    assert first.limits.used(once)[0] == pytest.approx(2.75 / 5.25)
    assert second.limits.used(once)[0] == pytest.approx(19 / (8 / 2.75) / 5.25)


def test_the_rules_are_an_objective(tiny) -> None:
    """Ten users keep 5.25, and thirty do not: half of what they ask for is carried."""
    found = []
    for users, count in ((10, 10), (20, 19), (30, 14)):
        rows = [asked(n, "Home", 0.05 + 4.8 * n / count, 0.1) for n in range(count)]
        observed = tiny({"requests": rows}, seconds=5)
        span = Span(0, 5 * S)
        step = windows(observed.db, span, users, "001")
        judged = limits(observed.db, span, WINDOW_NS, RULES, users)
        found.append(type(step)(**(vars(step) | {"limits": judged})))
    broken = breaking(found, {"rules": 1.0})
    assert broken is not None
    assert broken.load is not None
    # Users over throughput: 5, 5.26 and 10.7.
    assert 10 < broken.load <= 20
