"""Congested and normal mode of simulated runs."""

from __future__ import annotations

import numpy as np
import pytest

from tierlab.analysis.query import Floats
from tierlab.analysis.requests.two_modes import two_modes, two_states

from .conftest import Tiny
from .simulated_queues import MS, SECOND


def seconds(parts: list[tuple[int, float]], seed: int = 1, noise: float = 0.2) -> Floats:
    """The log of mean response times: so many seconds at so many milliseconds each."""
    dice = np.random.default_rng(seed)
    return np.concatenate([np.log(at) + dice.normal(0, noise, n) for n, at in parts])


@pytest.mark.parametrize("seed", range(5))
def test_the_first_half_is_congested(seed: int) -> None:
    """As in figure 17 of J. Park's thesis (Georgia Institute of Technology, 2016)."""
    found = two_states(seconds([(90, 60.0), (90, 10.0)], seed))
    assert found is not None
    assert found.high[:88].all()
    assert not found.high[92:].any()
    assert np.exp(found.means) == pytest.approx([10, 60], rel=0.1)
    assert found.bic_gain > 100


def test_modes_may_come_back() -> None:
    parts = [(30, 8.0), (20, 40.0), (40, 8.0), (15, 40.0), (30, 8.0)]
    found = two_states(seconds(parts))
    assert found is not None
    changes = np.flatnonzero(np.diff(found.high.astype(int))) + 1
    assert np.abs(changes - np.cumsum([30, 20, 40, 15])).max() <= 1


@pytest.mark.parametrize("seed", range(20))
def test_one_mode_is_not_taken_for_two(seed: int) -> None:
    assert two_states(seconds([(180, 12.0)], seed)) is None


def test_single_events_and_slow_drifts_are_no_mode() -> None:
    spikes = seconds([(180, 10.0)])
    spikes[[20, 61, 62, 140]] += np.log(30)
    assert two_states(spikes) is None
    assert two_states(seconds([(180, 10.0)]) + np.linspace(0, 0.5, 180)) is None


def test_seconds_without_requests_belong_to_their_neighbours() -> None:
    level = seconds([(40, 60.0), (40, 10.0)])
    level[10:14] = np.nan
    found = two_states(level)
    assert found is not None
    assert found.high[:39].all()
    assert two_states(np.full(60, np.nan)) is None
    assert two_states(np.full(60, 1.0)) is None


def test_from_requests_to_stretches(tiny: Tiny) -> None:
    dice = np.random.default_rng(3)
    requests = []
    for second in range(40):
        typical = 80.0 if 10 <= second < 25 else 8.0
        for took in dice.lognormal(np.log(typical), 0.5, 30):
            end = second * SECOND + int(dice.integers(0, SECOND))
            requests.append({"intended_ns": end - int(took * MS), "end_ns": end, "status": 200})
    observed = tiny({"requests": requests}, seconds=40)
    assert observed.measured is not None
    found = two_modes(observed.db, observed.measured)
    assert found is not None
    assert [(e.start_ns // SECOND, e.end_ns // SECOND) for e in found.congested] == [(10, 25)]
    assert found.congested_s == pytest.approx(0.08, rel=0.1)
    assert found.normal_s == pytest.approx(0.008, rel=0.1)
    assert found.share == pytest.approx(15 / 40)


def test_an_empty_run_has_no_modes(tiny: Tiny) -> None:
    observed = tiny({})
    assert observed.measured is not None
    assert two_modes(observed.db, observed.measured) is None
