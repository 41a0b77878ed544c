"""Saturated windows, from hand-made tables and against counting by hand."""

from __future__ import annotations

import json
from typing import Any

import made_run
import numpy as np
import pytest

from tierlab.analysis.observed import Observed
from tierlab.analysis.resources.resources import resources
from tierlab.analysis.resources.saturation import Saturation, at_limit, saturations
from tierlab.analysis.resources.utilisation import utilisations
from tierlab.analysis.span import Span

from .conftest import Tiny
from .simulated_queues import MS, SECOND, progress

TICK = 50 * MS


def rows(subject: str, column: str, values: list[Any], **others: Any) -> list[dict[str, Any]]:
    return [
        {"t_ns": (n + 1) * TICK, "dt_ns": TICK, "subject": subject, column: value, **others}
        for n, value in enumerate(values)
    ]


def found(observed: Observed) -> list[tuple[str, str, int, int]]:
    assert observed.whole is not None
    return [
        (each.resource, each.subject, each.start_ns // TICK, each.end_ns // TICK)
        for each in saturations(
            observed.db, observed.run.manifest, observed.whole, observed.in_progress
        )
    ]


def test_ticks_in_a_row_are_one_window(tiny: Tiny) -> None:
    busy = [0.2, 0.96, 1.0, 0.3, 0.99, None]
    observed = tiny({"cpu": rows("cpu0", "busy", busy) + rows("cpu1", "busy", [0.5] * 6)})
    assert found(observed) == [("cpu", "cpu0", 1, 3), ("cpu", "cpu0", 4, 5)]


@pytest.mark.parametrize(
    ("table", "column", "full", "resource"),
    [
        ("cpu", "iowait", 0.9, "iowait"),
        ("cpu", "steal", 0.9, "steal"),
        ("disk", "busy", 0.97, "disk"),
        ("domain", "throttled_ns", TICK, "throttling"),
        ("pressure", "some", 0.9, "memory pressure"),
        ("pressure", "some", 0.9, "io pressure"),
        ("listen", "accept_queue", 128, "accept queue"),
        ("domain", "major_faults", 900, "major faults"),
        ("domain", "limit_hits", 9, "memory limit"),
        ("net", "queued_packets", 40, "interface queue"),
        ("net", "drops_in", 3, "interface drops"),
    ],
)
def test_every_resource(tiny: Tiny, table: str, column: str, full: float, resource: str) -> None:
    others = {
        "pressure": {"resource": resource.partition(" ")[0]},
        "listen": {"backlog": 128},
    }
    none = type(full)(0)
    values = [none, none, full, full] + 10 * [none]
    observed = tiny({table: rows("db.1", column, values, **others.get(table, {}))})
    assert found(observed) == [(resource, "db.1", 2, 4)]


def test_constant_page_faults_are_usual(tiny: Tiny) -> None:
    values = [100 + n % 3 for n in range(20)]
    assert found(tiny({"domain": rows("db.1", "major_faults", values)})) == []


def test_a_domain_is_held_against_its_own_cores(tiny: Tiny) -> None:
    cpu = rows("db.1", "cpu_ns", [TICK // 2, TICK, TICK, 0])
    one = {"db.1": {"asked": {}, "found": {"pus": [1]}}}
    assert found(tiny({"domain": cpu}, mapping=one)) == [("domain cpu", "db.1", 1, 3)]
    assert found(tiny({"domain": cpu}, mapping={"db.1": {"found": {"pus": [0, 1]}}})) == []
    assert found(tiny({"domain": cpu}, mapping={})) == []


def changed(at_ns: int, subject: str, **found_of_it: Any) -> dict[str, Any]:
    detail = json.dumps({"asked": found_of_it, "found": found_of_it})
    about = {"t_ns": at_ns, "duration_ns": 0, "kind": "change"}
    return about | {"subject": subject, "detail": detail}


def test_after_a_change_a_domain_is_held_against_its_new_cores(tiny: Tiny) -> None:
    """A server that was given one PU instead of two was never full, and one given two instead of
    one was full at half.
    """
    cpu = rows("db.1", "cpu_ns", [TICK, TICK, TICK, TICK])
    cpu += rows("app.1", "cpu_ns", [TICK, TICK, TICK, TICK])
    mapping = {"db.1": {"found": {"pus": [0, 1]}}, "app.1": {"found": {"pus": [1]}}}
    events = [changed(2 * TICK, "db.1", pus=[0]), changed(3 * TICK, "app.1", pus=[0, 1])]
    observed = tiny({"domain": cpu, "events": events}, mapping=mapping)
    assert found(observed) == [("domain cpu", "app.1", 0, 3), ("domain cpu", "db.1", 2, 4)]
    assert observed.measured is not None
    shares = utilisations(observed.db, observed.run.manifest, observed.measured)
    assert shares["db.1 cpu"][:4].tolist() == [0.5, 0.5, 1.0, 1.0]
    assert shares["app.1 cpu"][:4].tolist() == [1.0, 1.0, 1.0, 0.5]


def test_what_was_read_back_after_a_change_alone_is_known_from_then_on(tiny: Tiny) -> None:
    """Before it nobody knows of how many PUs it was a share; what comes after was lost, too."""
    cpu = rows("db.1", "cpu_ns", [TICK] * 4)
    event = changed(2 * TICK, "db.1", pus=[0])
    observed = tiny({"domain": cpu, "events": [event]}, mapping={"db.1": {"found": {}}})
    assert observed.measured is not None
    shares = utilisations(observed.db, observed.run.manifest, observed.measured)
    assert np.isnan(shares["db.1 cpu"][:2]).all()
    assert shares["db.1 cpu"][2:4].tolist() == [1.0, 1.0]
    never = changed(90 * TICK, "db.1", pus=[0])
    observed = tiny({"domain": cpu, "events": [never]}, mapping={"db.1": {"found": {}}})
    assert observed.measured is not None
    assert utilisations(observed.db, observed.run.manifest, observed.measured) == {}


def test_after_a_change_threads_are_held_against_their_new_number(tiny: Tiny) -> None:
    servers = {n: p.model_copy(deep=True) for n, p in made_run.servers().items()}
    servers["web.1"].soft["threads"] = 9
    visits = [{"server": "web.1", "arrival_ns": n * MS, "departure_ns": 900 * MS} for n in range(4)]
    events = [changed(300 * MS, "web.1", threads=4), changed(600 * MS, "web.1", threads=8)]
    observed = tiny({"visits": visits, "events": events}, servers=servers)
    assert found(observed) == [("threads", "web.1", 6, 12)]


def test_processes_stand_in_for_a_domain(tiny: Tiny) -> None:
    mapping = {"web.1": {"found": {"pus": [0]}}}
    parts = [
        row
        for process in (7, 8)
        for row in rows("web.1", "run_ns", [TICK // 2, 0], process=process)
    ]
    assert found(tiny({"process": parts}, mapping=mapping)) == [("domain cpu", "web.1", 0, 1)]


def test_at_limit_is_what_counting_by_hand_finds() -> None:
    dice = np.random.default_rng(5)
    arrival = dice.integers(0, 3_000, 300) * MS
    departure = arrival + dice.integers(1, 120, 300) * MS
    at = np.arange(0, 3_200 * MS, MS)
    number = ((arrival[:, None] <= at) & (at < departure[:, None])).sum(0)
    mine = at_limit("threads", "web.1", progress(arrival, departure), 9, Span(0, 4 * SECOND))
    covered = np.zeros(at.size, dtype=bool)
    for each in mine:
        covered |= (each.start_ns <= at) & (at < each.end_ns)
        inside = number[(each.start_ns <= at) & (at < each.end_ns)]
        assert each.peak == inside.max() / 9
        assert each.share == pytest.approx(inside.mean() / 9)
    assert covered[number >= 9].all()
    for each in np.flatnonzero(covered & (number < 9)):  # only breaks of up to 10 ms are joined
        assert (number[max(0, each - 10) : each + 11] >= 9).any()


def test_threads_and_pool_come_from_the_visits(tiny: Tiny) -> None:
    servers = {n: p.model_copy(deep=True) for n, p in made_run.servers().items()}
    servers["web.1"].soft["threads"] = 3
    servers["app.1"].soft["pool"] = 2
    visits = [
        {"server": name, "arrival_ns": n * 10 * MS, "departure_ns": 300 * MS}
        for name, count in (("web.1", 4), ("lb.1", 2))
        for n in range(count)
    ]
    observed = tiny({"visits": visits}, servers=servers)
    assert observed.whole is not None
    mine = saturations(observed.db, observed.run.manifest, observed.whole, observed.in_progress)
    assert [(e.resource, e.subject, e.start_ns // MS, e.end_ns // MS, e.peak) for e in mine] == [
        ("pool", "app.1", 10, 300, 1.0),
        ("threads", "web.1", 20, 300, pytest.approx(4 / 3)),
    ]


def test_threads_that_are_no_workers_are_not_used_up_by_visits(tiny: Tiny) -> None:
    servers = {n: p.model_copy(deep=True) for n, p in made_run.servers().items()}
    servers["web.1"].soft["threads"] = 3
    servers["web.1"].worker_threads = False
    visits = [
        {"server": "web.1", "arrival_ns": n * 10 * MS, "departure_ns": 300 * MS} for n in range(9)
    ]
    assert found(tiny({"visits": visits}, servers=servers)) == []


@pytest.mark.parametrize(
    ("used", "held", "share"),
    [
        (360, 40, 0.1),  # 5 ms on each of eight CPUs
        (5, 45, 0.9),
        (5, 95, 0.95),  # told late: of this tick and the one before
        (2, 3, 0.06),
        (0, 0, 0.0),
        (None, 25, 0.5),
    ],
)
def test_time_held_back_by_a_limit_is_of_the_cpu_time_wanted(
    tiny: Tiny, used: int | None, held: int, share: float
) -> None:
    tick = {"t_ns": TICK, "dt_ns": TICK, "subject": "app.1", "throttled_ns": held * MS}
    observed = tiny({"domain": [tick | {"cpu_ns": None if used is None else used * MS}]})
    assert observed.whole is not None
    of_all = resources(observed.db, observed.whole)
    (mine,) = [each for each in of_all if each.metric == "throttled"]
    assert mine.mean == pytest.approx(share)
    assert bool(found(observed)) == (share >= 0.2)


def test_nothing_measured_is_nothing_saturated(tiny: Tiny) -> None:
    empty: list[Saturation] = []
    observed = tiny({})
    assert found(observed) == empty
    observed = tiny({"cpu": rows("cpu0", "busy", [None, None])})
    assert found(observed) == empty
