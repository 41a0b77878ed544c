"""Point-in-time response and visit time and queue length against brute force."""

import numpy as np
import pytest

from tierlab.analysis.queues.in_progress import visits_in_progress
from tierlab.analysis.queues.queue_length import queue_lengths
from tierlab.analysis.queues.visit_time import visit_times
from tierlab.analysis.requests.point_in_time import point_in_time
from tierlab.analysis.span import Span


def queue_lengths_of(db, span, width):
    return queue_lengths(visits_in_progress(db, span), span, width)


def brute_queue(arrivals, departures, span, width):
    """Integrate the queue length window by window, visit by visit."""
    means = []
    for start in range(span.start_ns, span.end_ns, width):
        end = min(start + width, span.end_ns)
        inside = np.minimum(departures, end) - np.maximum(arrivals, start)
        means.append(np.clip(inside, 0, None).sum() / (end - start))
    return means


@pytest.mark.parametrize("seed", range(8))
def test_queue_length_equals_brute_force(tiny, seed):
    dice = np.random.default_rng(seed)
    span = Span(int(dice.integers(0, 5_000)), int(dice.integers(5_001, 20_000)))
    width = int(dice.integers(1, 3_000))
    arrivals = dice.integers(-3_000, 22_000, 300)
    stays = np.where(dice.random(300) < 0.3, 0, dice.integers(0, 9_000, 300))
    stays[dice.random(300) < 0.1] = width  # on the windows' edges, too
    server = np.where(dice.random(300) < 0.5, "web.1", "db.1")
    rows = [
        {"visit": i, "server": str(s), "arrival_ns": int(a), "departure_ns": int(a + d)}
        for i, (s, a, d) in enumerate(zip(server, arrivals, stays, strict=True))
    ]
    observed = tiny({"visits": rows})
    found = queue_lengths_of(observed.db, span, width)
    for name in ("web.1", "db.1"):
        mine = server == name
        expected = brute_queue(arrivals[mine], (arrivals + stays)[mine], span, width)
        assert found.by_server[name].tolist() == pytest.approx(expected, abs=1e-9)


def stay(number, connection, arrival, departure, server="db.1"):
    row = {"visit": number, "connection": connection, "server": server}
    return {**row, "arrival_ns": arrival, "departure_ns": departure}


def test_a_frozen_server_shows_its_queue_to_the_end(tiny):
    hung = [stay(n, n, 10 + n, None) for n in range(5)]
    observed = tiny({"visits": [*hung, stay(9, 9, 0, 5)]}, seconds=200e-9)
    found = queue_lengths_of(observed.db, Span(0, 200), 50)
    expected = [(5 + 40 + 39 + 38 + 37 + 36) / 50, 5, 5, 5]
    assert found.by_server["db.1"].tolist() == pytest.approx(expected)


def test_a_visit_without_a_departure_ends_where_its_connection_is_used_again(tiny):
    rows = [stay(1, 7, 10, None), stay(2, 7, 60, 70), stay(3, 7, 80, None), stay(4, 8, 20, 30)]
    elsewhere = stay(5, 7, 40, 50, "web.1")
    observed = tiny({"visits": [*rows, elsewhere]}, seconds=100e-9)
    found = queue_lengths_of(observed.db, Span(0, 100), 100)
    expected = ((60 - 10) + (70 - 60) + (100 - 80) + (30 - 20)) / 100
    assert found.by_server["db.1"].tolist() == pytest.approx([expected])


def test_a_readiness_check_that_was_given_up_before_the_trial_is_in_no_queue(tiny):
    observed = tiny({"visits": [stay(1, 1, -10, None)]})
    assert queue_lengths_of(observed.db, Span(0, 100), 50).by_server == {}


@pytest.mark.parametrize("seed", range(4))
def test_point_in_time_equals_brute_force(tiny, seed):
    dice = np.random.default_rng(seed)
    span, width = Span(100, 10_050), 70
    ends = dice.integers(0, 12_000, 90)
    times = dice.integers(1, 5_000, 90)
    rows = [
        {"intended_ns": int(e - t), "end_ns": int(e), "interaction": "Home", "attempts": 1}
        for e, t in zip(ends, times, strict=True)
    ]
    observed = tiny({"requests": rows})
    found = point_in_time(observed.db, span, width)
    for start, mean_s, ended in zip(found.start_ns, found.mean_s, found.ended, strict=True):
        mine = times[(ends >= start) & (ends < min(start + width, span.end_ns))]
        assert ended == len(mine)
        if len(mine):
            assert mean_s == pytest.approx(mine.mean() / 1e9)
        else:
            assert np.isnan(mean_s)


@pytest.mark.parametrize("seed", range(4))
def test_point_in_time_visit_time_equals_brute_force(tiny, seed):
    dice = np.random.default_rng(seed)
    span, width = Span(100, 10_050), 70
    departures = dice.integers(0, 12_000, 200)
    stays = np.where(dice.random(200) < 0.1, 0, dice.integers(0, 5_000, 200))
    server = np.where(dice.random(200) < 0.5, "web.1", "db.1")
    rows = [
        {"visit": i, "server": str(s), "arrival_ns": int(d - t), "departure_ns": int(d)}
        for i, (s, d, t) in enumerate(zip(server, departures, stays, strict=True))
    ]
    rows.append({"visit": 200, "server": "web.1", "arrival_ns": 150, "departure_ns": None})
    observed = tiny({"visits": rows})
    found = visit_times(observed.db, span, width)
    assert set(found.by_server) == {"web.1", "db.1"}
    for name, means in found.by_server.items():
        for start, mean_s in zip(found.start_ns, means, strict=True):
            ends = (departures >= start) & (departures < min(start + width, span.end_ns))
            mine = stays[ends & (server == name)]
            if len(mine):
                assert mean_s == pytest.approx(mine.mean() / 1e9)
            else:
                assert np.isnan(mean_s)


def test_no_rows_give_no_values(tiny):
    observed = tiny({"requests": [], "visits": []})
    found = point_in_time(observed.db, Span(0, 200), 50)
    assert np.isnan(found.mean_s).all()
    assert found.ended.tolist() == [0, 0, 0, 0]
    assert visit_times(observed.db, Span(0, 200), 50).by_server == {}
    assert queue_lengths_of(observed.db, Span(0, 200), 50).by_server == {}
