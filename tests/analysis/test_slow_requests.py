"""Modes of simulated response times, and slow requests of hand-made runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tierlab.analysis.requests.modes import Mode, Modes, modes, modes_of
from tierlab.analysis.requests.slow_requests import clusters, slow_requests, threshold

from .conftest import Tiny
from .simulated_queues import MS, SECOND


def drawn(parts: list[tuple[float, float, int]], seed: int) -> Modes:
    """Modes of log-normal parts: median in seconds, deviation in decades, how many."""
    dice = np.random.default_rng(seed)
    values = np.concatenate([np.log10(at) + dice.normal(0, s, n) for at, s, n in parts])
    return modes_of(values, np.ones(values.size), seed)


def test_one_mode_is_seldom_taken_for_two() -> None:
    found = [drawn([(0.008, 0.4, 3_000)], seed) for seed in range(20)]
    assert sum(len(each.modes) == 1 for each in found) >= 18
    assert found[0].modes[0].weight == 1
    assert found[0].modes[0].from_s is None


@pytest.mark.parametrize("seed", range(3))
def test_retried_requests_are_a_mode_of_their_own(seed: int) -> None:
    found = drawn([(0.008, 0.35, 20_000), (1.02, 0.03, 200)], seed)
    assert len(found.modes) == 2
    fast, slow = found.modes
    assert fast.at_s == pytest.approx(0.008, rel=0.2)
    assert slow.at_s == pytest.approx(1.02, rel=0.1)
    assert slow.weight == pytest.approx(200 / 20_200, rel=0.1)
    assert fast.to_s == slow.from_s
    assert found.p_values[0] < 0.05 <= found.p_values[-1]


def test_three_modes_of_two_retries() -> None:
    found = drawn([(0.01, 0.3, 9_000), (1.02, 0.02, 300), (3.05, 0.02, 300)], 1)
    assert [each.at_s for each in found.modes] == pytest.approx([0.01, 1.02, 3.05], rel=0.25)


def test_many_requests_cost_no_more_than_few() -> None:
    dice = np.random.default_rng(1)
    slots = np.round(np.log10(0.01) * 100 + dice.normal(0, 30, 900_000)) / 100
    at, count = np.unique(slots, return_counts=True)
    assert len(modes_of(at, count.astype(float)).modes) == 1


def test_the_threshold_is_the_valley_where_there_is_one() -> None:
    def found(*valleys: float | None) -> Modes:
        parts = [Mode(at_s=0.01, from_s=None, to_s=None, weight=0.9)]
        parts += [Mode(at_s=1.0, from_s=v, to_s=None, weight=0.01) for v in valleys]
        return Modes(count=100, modes=parts, p_values=[])

    assert threshold(None) == (2.0, "default")
    assert threshold(found()) == (2.0, "default")
    assert threshold(found(0.7)) == (0.7, "valley")
    assert threshold(found(0.05, 0.7)) == (0.7, "valley")
    assert threshold(found(4.0)) == (2.0, "default")


def request(at_ms: float, took_ms: float, **others: Any) -> dict[str, Any]:
    times = {"intended_ns": round(at_ms * MS), "end_ns": round((at_ms + took_ms) * MS)}
    return {"interaction": "Browse", "status": 200, "attempts": 1, **times, **others}


def test_slow_is_what_is_slow_for_its_interaction(tiny: Tiny) -> None:
    quick = [request(20 * n, 2 + n % 3) for n in range(40)]
    search = [request(20 * n, 150 + 40 * (n % 3), interaction="Search") for n in range(40)]
    late = [request(300, 190), request(310, 180), request(900, 60), request(905, 30)]
    long = request(1_200, 2_500, status=None, error="request_timeout")
    observed = tiny({"requests": quick + search + late + [long]}, seconds=5)
    assert observed.measured is not None
    found = slow_requests(observed.db, observed.measured)
    assert found is not None
    assert (found.threshold_s, found.threshold_from, found.total) == (2.0, "default", 85)
    assert (found.delayed.intended_ns // MS).tolist() == [300, 310, 900, 1_200]
    assert found.delayed.usual_ns[0] == 3 * MS
    assert found.very_long.response_ns.tolist() == [2_500 * MS]
    groups = clusters(found.delayed)
    assert [(each.start_ns // MS, each.end_ns // MS, each.count) for each in groups] == [
        (300, 490, 2),
        (900, 960, 1),
        (1_200, 3_700, 1),
    ]
    assert found.delayed.waiting(400 * MS, 410 * MS).count == 2
    asked = slow_requests(observed.db, observed.measured, threshold_s=0.185)
    assert asked is not None
    assert asked.threshold_from == "asked"
    assert asked.very_long.count == 1 + 1 + 26


def test_an_empty_run_has_no_slow_requests(tiny: Tiny) -> None:
    observed = tiny({})
    assert observed.measured is not None
    assert slow_requests(observed.db, observed.measured) is None
    assert modes(observed.db, observed.measured) is None


def test_a_run_of_one_request(tiny: Tiny) -> None:
    observed = tiny({"requests": [request(10, 5)]})
    assert observed.measured is not None
    assert modes(observed.db, observed.measured) is None
    found = slow_requests(observed.db, observed.measured)
    assert found is not None
    assert (found.total, found.very_long.count, found.delayed.count) == (1, 0, 0)
    assert clusters(found.delayed) == []


def test_modes_are_of_the_successful_requests(tiny: Tiny) -> None:
    quick = [request(5 * n, 8 + n % 5) for n in range(100)]
    failed = [request(5 * n, 1_000, error="refused", status=None) for n in range(30)]
    retried = [request(5 * n, 1_000 + n) for n in range(12)]
    observed = tiny({"requests": quick + failed + retried}, seconds=3 * SECOND / SECOND)
    assert observed.measured is not None
    found = modes(observed.db, observed.measured)
    assert found is not None
    assert found.count == 112
    assert found.modes[-1].at_s == pytest.approx(1.0, rel=0.1)
    assert found.modes[-1].weight == pytest.approx(12 / 112)
