"""Work units and congestion points against queues whose capacity is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tierlab.analysis.queues.congestion_point import CongestionPoint, congestion_points
from tierlab.analysis.queues.work_units import Work, WorkDone, work_done
from tierlab.analysis.span import WINDOW_NS, Span

from .conftest import Tiny
from .simulated_queues import MS, SECOND, Ints, first_come, poisson, progress

SPAN = Span(0, 60 * SECOND)
EDGES = np.arange(0, 60 * SECOND + 1, WINDOW_NS)


def varying(dice: np.random.Generator, low: float, high: float) -> Ints:
    """A load that goes up and down once in twenty seconds."""
    times = poisson(high, 60, dice)
    swing = (1 - np.cos(times / (20 * SECOND) * 2 * np.pi)) / 2
    return times[dice.random(times.size) < (low + (high - low) * swing) / high]


def point(arrival: Ints, departure: Ints) -> CongestionPoint:
    mine = progress(arrival, departure)
    units = mine.departures(EDGES) * 1e9 / WINDOW_NS
    work = Work(mine.mean(EDGES), units, {})
    (found,) = congestion_points(WorkDone(WINDOW_NS, EDGES[:-1], {"app.1": work}))
    return found


@pytest.mark.parametrize("workers", [2, 6])
@pytest.mark.parametrize("seed", [1, 2])
def test_n_star_is_the_number_of_workers(workers: int, seed: int) -> None:
    """With ``c`` workers of rate ``1/s`` each, throughput is ``min(N, c)/s``: N* is ``c``."""
    dice = np.random.default_rng(seed)
    capacity = workers / 0.005
    arrival = varying(dice, 0.1 * capacity, 1.15 * capacity)
    service = (dice.gamma(4, 1.25, arrival.size) * MS).astype(np.int64)
    found = point(arrival, first_come(arrival, service, workers=workers))
    assert found.load is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.load <= found.high
    assert found.load == pytest.approx(workers, rel=0.3)
    assert found.slope is not None
    assert found.slope == pytest.approx(200, rel=0.25), "a window's mean crosses the bend"
    assert found.load * found.slope == pytest.approx(capacity, rel=0.1)
    assert found.congested
    assert found.frozen == []
    busiest = [each for each in found.congested if each.end_ns - each.start_ns > SECOND]
    assert busiest, "over capacity for seconds on end"


@pytest.mark.parametrize("seed", range(4))
def test_a_server_with_room_has_no_congestion_point(seed: int) -> None:
    dice = np.random.default_rng(seed)
    arrival = varying(dice, 100, 900)
    stay = (dice.lognormal(1, 1, arrival.size) * MS).astype(np.int64)
    assert point(arrival, arrival + stay).load is None


@pytest.mark.parametrize("seed", range(3))
def test_a_frozen_server_has_frozen_windows_and_no_n_star(seed: int) -> None:
    dice = np.random.default_rng(seed)
    arrival = poisson(400, 60, dice)
    service = (dice.exponential(0.5, arrival.size) * MS).astype(np.int64)
    frozen = [(s * SECOND, s * SECOND + 400 * MS) for s in (9, 23, 41)]
    found = point(arrival, first_come(arrival, service, frozen))
    assert found.load is None
    assert len(found.frozen) == 3
    for stretch, (start, end) in zip(found.frozen, frozen, strict=True):
        assert abs(stretch.start_ns - start) <= 2 * WINDOW_NS
        assert abs(stretch.end_ns - end) <= WINDOW_NS


def mixed(seed: int) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """A worker that is always busy, with searches of 20 ms in a mix that changes, and lookups."""
    dice = np.random.default_rng(seed)
    count = 20_000
    search = dice.random(count) < np.where(np.arange(count) // 300 % 2, 0.3, 0.02)
    service = np.where(search, 20.0, 1.0) * dice.uniform(0.8, 1.2, count)
    end = np.cumsum(service * MS).astype(np.int64)
    return end - (service * MS).astype(np.int64), end, search


def test_units_are_the_same_when_the_mix_is_not(tiny: Tiny) -> None:
    """A busy worker does the same work a second whatever the mix; its visits per second differ."""
    start, end, search = mixed(1)
    labels = np.where(search, "search", "lookup").tolist()
    visits = [
        {"server": "db.1", "label": label, "arrival_ns": a, "departure_ns": d}
        for label, a, d in zip(labels, start.tolist(), end.tolist(), strict=True)
    ]
    observed = tiny({"visits": visits}, seconds=float(end[-1] // SECOND))
    assert observed.measured is not None
    width = 500 * MS
    edges = np.arange(0, observed.measured.end_ns + 1, width)
    load = {"db.1": observed.in_progress["db.1"].mean(edges), "none.1": np.ones(edges.size - 1)}
    done = work_done(observed.db, observed.measured, load, width)
    assert set(done.by_server) == {"db.1"}
    work = done.by_server["db.1"]
    assert work.unit_of["search"] / work.unit_of["lookup"] == pytest.approx(20, rel=0.05)
    per_visit = np.array([work.unit_of[label] for label in labels])
    assert per_visit.mean() == pytest.approx(1, rel=0.01)
    raw = np.histogram(end, edges)[0]
    assert raw.std() / raw.mean() > 0.4
    assert work.units.std() / work.units.mean() < 0.1


def test_nothing_seen_is_no_work(tiny: Tiny) -> None:
    observed = tiny({})
    assert observed.measured is not None
    done = work_done(observed.db, observed.measured, {})
    assert done.by_server == {}
    assert congestion_points(done) == []
