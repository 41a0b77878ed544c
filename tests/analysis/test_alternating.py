"""Alternating resources, and the grid that their samples are brought onto."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import uniform_filter1d

from tierlab.analysis.query import Floats
from tierlab.analysis.resources.alternating import alternations
from tierlab.analysis.resources.utilisation import on_grid, utilisations

from .conftest import Tiny
from .simulated_queues import MS, SECOND

WINDOWS = 1_200


def wandering(dice: np.random.Generator, width: int) -> Floats:
    """A share that depends on its own past: smoothed noise, busy about a tenth of the time."""
    noise = uniform_filter1d(dice.normal(0, 1, WINDOWS), width, mode="wrap")
    noise = (noise - noise.mean()) / noise.std()
    return np.clip(0.5 + 0.25 * noise, 0, 1)


def test_turns_of_four_windows_are_found() -> None:
    """Threads that run in turns, with a common load on top (non-uniform mappings, figure 5)."""
    dice = np.random.default_rng(1)
    turn = np.arange(WINDOWS) // 4 % 2
    base = 0.1 * wandering(dice, 40)
    first = np.clip(0.9 * turn + base + dice.normal(0, 0.05, WINDOWS), 0, 1)
    second = np.clip(0.9 * (1 - turn) + base + dice.normal(0, 0.05, WINDOWS), 0, 1)
    (found,) = alternations({"cpu0 busy": first, "db.1 cpu": second})
    assert found.alternating
    assert found.correlation < -0.9
    assert found.p < 0.01
    assert found.one_busy > 0.9
    assert found.both_busy < 0.05
    assert found.turns == pytest.approx(5, rel=0.1), "every 200 ms"


def test_a_period_that_divides_a_second_is_found_too() -> None:
    dice = np.random.default_rng(2)
    turn = np.arange(WINDOWS) // 2 % 2
    noisy = [np.clip(0.9 * each + dice.normal(0, 0.1, WINDOWS), 0, 1) for each in (turn, 1 - turn)]
    (found,) = alternations({"a": noisy[0], "b": noisy[1]})
    assert found.alternating


@pytest.mark.parametrize("width", [1, 4, 20])
def test_independent_resources_seldom_alternate(width: int) -> None:
    """A test of its size: pairs that have nothing to do with each other, whatever their past."""
    dice = np.random.default_rng(width)
    p_values = []
    for _ in range(25):
        pair = {"a": wandering(dice, width), "b": wandering(dice, width)}
        (found,) = alternations(pair)
        p_values.append(found.p)
    assert np.count_nonzero(np.array(p_values) < 0.05) <= 5, "of 25; 1.25 are expected"
    assert np.count_nonzero(np.array(p_values) < 0.01) <= 2, "of 25; 0.25 are expected"


@pytest.mark.parametrize("others", [4, 12])
def test_turns_are_found_among_many_that_take_none(others: int) -> None:
    """With ten pairs and more none could be told from chance: 999 shuffles were too few for it."""
    dice = np.random.default_rng(7)
    turn = np.arange(WINDOWS) // 4 % 2
    series = {f"other{number}": wandering(dice, 1 + number) for number in range(others)}
    found = alternations({"a": 1.0 * turn, "b": 1.0 - turn, **series})
    assert len(found) == (others + 2) * (others + 1) // 2
    assert [(each.first, each.second) for each in found if each.alternating] == [("a", "b")]
    assert found[0].p < 0.01


def test_of_many_independent_pairs_any_seldom_alternates() -> None:
    dice = np.random.default_rng(8)
    least = []
    for _ in range(20):
        busy = {str(number): wandering(dice, 1 + 4 * number) for number in range(6)}
        least.append(min(each.p for each in alternations(busy)))
    assert np.count_nonzero(np.array(least) < 0.05) <= 4, "of 20; 1 is expected"
    assert np.mean(least) > 0.3, "0.5 is expected"


def test_what_is_busy_together_does_not_alternate() -> None:
    dice = np.random.default_rng(4)
    shared = wandering(dice, 4)
    (found,) = alternations({"a": shared, "b": np.clip(shared + 0.05, 0, 1)})
    assert not found.alternating
    assert found.correlation > 0.9
    assert found.p > 0.9


def test_the_idle_and_the_unmeasured_take_no_turns() -> None:
    dice = np.random.default_rng(5)
    busy = wandering(dice, 4)
    assert alternations({"a": busy, "idle": np.full(WINDOWS, 0.1)}) == []
    assert alternations({"a": busy[:50], "b": 1 - busy[:50]}) == []
    assert alternations({"cpu0 busy": busy, "cpu0 iowait": 1 - busy}) == []
    assert alternations({}) == []
    gaps = np.where(np.arange(WINDOWS) < 30, np.nan, 1 - busy)
    (found,) = alternations({"a": np.where(busy > 0.7, 1.0, busy), "b": np.round(gaps)})
    assert np.isfinite(found.correlation)


def test_ticks_are_shared_out_to_windows() -> None:
    t_ns = np.array([30, 60, 130, 200], dtype=np.int64)
    dt_ns = np.array([30, 30, 50, 70], dtype=np.int64)
    value = np.array([1.0, 0.0, 0.5, 1.0])
    means = on_grid(t_ns, dt_ns, value, np.array([0, 50, 100, 150, 200, 250]))
    # 0-30: 1, 30-60: 0, nothing until 80, 80-130: 0.5, 130-200: 1
    assert means[0] == pytest.approx(30 / 50)
    assert means[1] == pytest.approx(10 / 30), "20 ns of it were not measured"
    assert means[2] == pytest.approx((30 * 0.5 + 20) / 50)
    assert means[3] == pytest.approx(1)
    assert np.isnan(means[4])


def test_every_share_of_a_run(tiny: Tiny) -> None:
    ticks = [{"t_ns": 50 * MS * (n + 1), "dt_ns": 50 * MS} for n in range(20)]
    observed = tiny(
        {
            "cpu": [{**each, "subject": "cpu0", "busy": 0.5, "iowait": None} for each in ticks],
            "disk": [{**each, "subject": "vda", "busy": 0.25} for each in ticks],
            "domain": [{**each, "subject": "db.1", "cpu_ns": 50 * MS} for each in ticks],
        },
        mapping={"db.1": {"found": {"pus": [0, 1]}}},
    )
    assert observed.measured is not None
    assert observed.measured.end_ns == SECOND
    found = utilisations(observed.db, observed.run.manifest, observed.measured)
    assert {name: set(values) for name, values in found.items()} == {
        "cpu0 busy": {0.5},
        "vda busy": {0.25},
        "db.1 cpu": {0.5},
    }


def test_an_unsampled_run_has_no_shares(tiny: Tiny) -> None:
    observed = tiny({})
    assert observed.measured is not None
    assert utilisations(observed.db, observed.run.manifest, observed.measured) == {}
