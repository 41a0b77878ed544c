"""Queue episodes against simulated servers whose freezes are known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tierlab.analysis.queues.busy_gaps import busy_gaps
from tierlab.analysis.queues.in_progress import InProgress, visits_in_progress
from tierlab.analysis.queues.queue_episodes import QueueEpisode, queue_episodes
from tierlab.analysis.span import Span

from .conftest import Tiny
from .simulated_queues import MS, SECOND, first_come, poisson, progress

MINUTE = Span(0, 60 * SECOND)


def simulated(
    rate: float, frozen: list[tuple[int, int]], seed: int, service_ms: float = 0.4
) -> InProgress:
    dice = np.random.default_rng(seed)
    arrival = poisson(rate, 60, dice)
    service = (dice.exponential(service_ms, arrival.size) * MS).astype(np.int64)
    return progress(arrival, first_come(arrival, service, frozen))


def test_number_in_progress_is_that_of_a_count_by_hand() -> None:
    dice = np.random.default_rng(3)
    arrival = dice.integers(0, 1000, 200)
    departure = arrival + dice.integers(0, 90, 200)
    mine = progress(arrival, departure)
    at = np.arange(0, 1100)
    by_hand = ((arrival[:, None] <= at) & (at < departure[:, None])).sum(0)
    assert (mine.at(at) == by_hand).all()
    edges = np.array([0, 100, 130, 700, 1100])
    means = [by_hand[a:b].mean() for a, b in pairwise(edges)]
    assert mine.mean(edges) == pytest.approx(means)
    t_ns, number = mine.steps(100, 500)
    assert t_ns[0] == 100
    assert (number == by_hand[t_ns]).all()


def test_busy_gaps_leave_idle_time_out() -> None:
    gaps = busy_gaps(progress(np.array([10, 20, 100]), np.array([30, 40, 130])))
    assert gaps.start_ns.tolist() == [10, 30, 100]
    assert gaps.end_ns.tolist() == [30, 40, 130]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rate", [80.0, 500.0])
def test_freezes_are_found_with_their_onsets(rate: float, seed: int) -> None:
    lengths = [60, 100, 300, 1000, 80, 500]
    starts = [(6 + 8 * n) * SECOND + 17 * MS * (seed + 1) for n in range(len(lengths))]
    frozen = [(a, a + n * MS) for a, n in zip(starts, lengths, strict=True)]
    server = simulated(rate, frozen, seed)
    found = queue_episodes({"db.1": server}, MINUTE)
    came, errors = server.arrival_ns, []
    for start, end in frozen:
        if not ((start < came) & (came < end - 40 * MS)).any():
            continue  # nobody was kept waiting for long
        (mine,) = [each for each in found if each.onset_ns < end and start < each.end_ns]
        assert mine.frozen
        assert mine.end_ns >= end
        assert mine.still_ns >= (end - start) - 2_000 / rate * MS - 40 * MS
        errors.append(abs(mine.onset_ns - start))
    assert np.median(errors) <= 20 * MS
    assert max(errors) <= 3e9 / rate + 10 * MS
    others = [
        each for each in found if not any(each.onset_ns < b and a < each.end_ns for a, b in frozen)
    ]
    assert len(others) <= 1, "random arrivals make a long queue now and then, not more"
    assert not any(each.frozen for each in others)


def test_a_slow_server_is_no_frozen_one() -> None:
    """At a twentieth of its speed for half a second visits wait, and go on leaving."""
    dice = np.random.default_rng(1)
    arrival = poisson(300, 60, dice)
    service = (dice.exponential(0.4, arrival.size) * MS).astype(np.int64)
    slow = (arrival >= 30 * SECOND) & (arrival < 30 * SECOND + 500 * MS)
    service[slow] *= 20
    mine = progress(arrival, first_come(arrival, service))
    (found,) = queue_episodes({"app.1": mine}, MINUTE)
    assert abs(found.onset_ns - 30 * SECOND) <= 60 * MS
    assert not found.frozen
    assert 0.2 < found.departures / found.expected < 1.1
    assert found.peak > 20


def test_a_rising_load_is_no_episode() -> None:
    dice = np.random.default_rng(2)
    ramp = np.sqrt(dice.random(15_000)) * 30 * SECOND  # from 0 to 1,000 a second
    arrival = np.concatenate([ramp.astype(np.int64), poisson(1_000, 30, dice, start_s=30)])
    stay = (dice.exponential(20, arrival.size) * MS).astype(np.int64)
    assert queue_episodes({"app.1": progress(arrival, arrival + stay)}, MINUTE) == []


def test_a_lasting_surge_is_one() -> None:
    dice = np.random.default_rng(2)
    stay = 20 * MS
    arrival = np.concatenate([poisson(300, 60, dice), poisson(1_500, 6, dice, start_s=40)])
    found = queue_episodes({"app.1": progress(arrival, arrival + stay)}, MINUTE)
    assert found
    assert abs(found[0].onset_ns - 40 * SECOND) < 100 * MS
    assert found[-1].end_ns > 45 * SECOND
    assert not any(each.frozen for each in found)


@pytest.mark.parametrize("width_ms", [10, 100, 200, 1000])
def test_any_window_serves(width_ms: int) -> None:
    frozen = [(20 * SECOND, 21 * SECOND)]
    found = queue_episodes({"db.1": simulated(300, frozen, 4)}, MINUTE, width_ms * MS)
    assert [abs(each.onset_ns - 20 * SECOND) <= 20 * MS for each in found] == [True]


def test_one_visit_held_long_by_an_idle_server_shows() -> None:
    arrival = np.arange(600, dtype=np.int64) * 100 * MS
    stay = np.full(600, MS)
    stay[300] = 90 * MS
    (found,) = queue_episodes({"db.1": progress(arrival, arrival + stay)}, MINUTE)
    assert found.peak == 1
    assert found.still_ns == 90 * MS
    assert found.onset_early_ns <= 30 * SECOND <= found.onset_late_ns
    assert found.end_ns == 30 * SECOND + 90 * MS


def test_a_visit_never_seen_to_leave_stands_in_the_queue(tiny: Tiny) -> None:
    visit = {"server": "web.1", "arrival_ns": 100, "departure_ns": 300, "connection": 1}
    lost = {"server": "web.1", "arrival_ns": 200, "departure_ns": None, "connection": 2}
    observed = tiny({"visits": [visit, lost]})
    assert observed.whole is not None
    found = visits_in_progress(observed.db, observed.whole)["web.1"]
    assert found.arrival_ns.tolist() == [100, 200]
    assert found.departure_ns.tolist() == [300, observed.whole.end_ns]


def test_nothing_measured_is_no_episode(tiny: Tiny) -> None:
    observed = tiny({})
    assert observed.whole is not None
    assert visits_in_progress(observed.db, observed.whole) == {}
    assert queue_episodes({}, observed.whole) == []


def test_a_run_of_one_request(tiny: Tiny) -> None:
    visit = {"server": "web.1", "arrival_ns": 100, "departure_ns": 300}
    observed = tiny({"visits": [visit], "requests": [{"intended_ns": 50, "end_ns": 400}]})
    assert observed.whole is not None
    progress = visits_in_progress(observed.db, observed.whole)
    found: list[QueueEpisode] = queue_episodes(progress, observed.whole)
    assert found == []
