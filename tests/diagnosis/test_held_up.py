"""A pool that those below keep in use is theirs, though none of their visits is long by itself."""

from __future__ import annotations

import numpy as np
import pytest

from tierlab.analysis.observed import observe
from tierlab.analysis.queues.in_progress import InProgress
from tierlab.analysis.span import Span
from tierlab.diagnosis.calls import calls
from tierlab.diagnosis.causes import network
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.signals import Stretches
from tierlab.diagnosis.stalls import Stall
from tierlab.tables.run import Run

from . import made_stall
from .made_stall import MS, STALL, START
from .signatures import diagnosed, more_visits, pressed
from .test_causes import held_at
from .test_echoes import WINDOW, context

POOL = 64
FULL_POOL = {"subject": "app.1", "resource": "pool", "limit": POOL, "in_use": POOL, "waiting": 40}


def with_calls(folder, took_ms: int, **samples):
    """What is told of the run below."""
    run = made(folder, took_ms, **samples)
    return [(each.cause, each.subject) for each in diagnosed(run).findings]


def made(folder, took_ms: int, **samples):
    """Requests wait for a connection at app.1 for 300 ms, and all of its pool have calls under way,
    one after the other, that take so long each.
    """
    made_stall.make(folder, "app.1", {"soft": [FULL_POOL], **samples})
    held_at(folder, "app.1")
    took = took_ms * MS
    rows = [
        {"server": name, "label": "SELECT ?", "protocol": "mysql"}
        | {"arrival_ns": t, "request_end_ns": t, "departure_ns": t + took}
        for start in range(POOL)
        for t in range(STALL[0] + start * took // POOL, STALL[1] - took, took)
        for name in ("lb.1", "db.1")
    ]
    more_visits(folder, rows)
    return folder


LOW_WEIGHT = {
    "domain": [{"subject": "db.1", "weight": 16}],
    "pressure": pressed("db.1", "cpu", 0.95),
    "cpu": [{"subject": f"cpu{n}", "busy": 1.0} for n in range(2)],
}


def test_a_pool_that_a_slow_database_keeps_in_use_is_the_databases(tmp_path):
    """A database of low weight, near capacity, was called app.1's pool with confidence 0.97."""
    assert with_calls(tmp_path, 15, **LOW_WEIGHT) == [("weight", "db.1")]


def test_it_is_no_pool_either_where_what_slows_the_database_is_not_known(tmp_path):
    assert with_calls(tmp_path, 15) == [("unknown", "app.1")]


def test_a_pool_whose_calls_take_no_longer_than_usual_is_one(tmp_path):
    assert with_calls(tmp_path, 1) == [("pool", "app.1")]


QUEUED = [{"subject": "lo", "queued_bytes": 40_000}]


@pytest.mark.parametrize(("took_ms", "least", "most"), [(60, 0.0, 0.0), (1, 0.7, 1.0)])
def test_who_waits_for_a_connection_has_sent_nothing_yet(tmp_path, took_ms, least, most):
    """A slow network and lost packets at the database were told at the balancer, too, and first:
    the next calls would have come there.
    """
    folder = made(tmp_path, took_ms, net=QUEUED)
    found = network.judge(context(folder, "app.1", {"lb.1": 0.97}))
    assert found.subject == "lb.1"
    assert least <= found.least <= found.most <= most


def test_whose_messages_were_late_is_known_of_who_stalled_alone(tmp_path):
    """Where a pool is held up, who is called is judged as well: to them all seemed to be late whom
    the stalled server waited for.
    """
    run = RunContext(observe(Run(made(tmp_path, 15, net=QUEUED))))
    waits = Stall("app.1", WINDOW, WINDOW, 20, 300 * MS, 6_000 * MS, {"lb.1": 0.97})
    below = run.contexts_below(waits)
    assert [each.subject for each in below] == ["lb.1", "db.1"]
    assert [network.judge(each) for each in below] == [None, None]


SPAN = Span(START, START + 10_000 * MS)


@pytest.mark.parametrize("times", [1.0, 3.0, 40.0])
def test_calls_are_as_much_longer_as_they_were_made(times):
    """Against what was made: 5 ms each for 10 s, and in the last second so many times that."""
    last_ns = SPAN.end_ns - 1_000 * MS
    came = np.arange(SPAN.start_ns, SPAN.end_ns, MS, dtype=np.int64)
    took = np.where(came < last_ns, 5 * MS, int(5 * MS * times))
    quiet = Stretches.of([Window(start_ns=last_ns, end_ns=SPAN.end_ns)])
    found = calls([InProgress(came, np.sort(came + took))], SPAN, quiet)
    window = Window(start_ns=last_ns + 400 * MS, end_ns=SPAN.end_ns)
    assert found.usual_s == pytest.approx(0.005, rel=0.01)
    assert found.times_longer(window) == pytest.approx(times, rel=0.05)


def test_calls_that_do_not_end_are_at_least_so_long():
    came = np.arange(SPAN.start_ns, SPAN.end_ns, MS, dtype=np.int64)
    left = np.where(came < SPAN.end_ns - 1_000 * MS, came + 5 * MS, SPAN.end_ns)
    stalled = Window(start_ns=SPAN.end_ns - 1_000 * MS, end_ns=SPAN.end_ns)
    found = calls([InProgress(came, np.sort(left))], SPAN, Stretches.of([stalled]))
    window = Window(start_ns=stalled.start_ns + 100 * MS, end_ns=stalled.end_ns)
    assert found.times_longer(window) > 100


def test_without_quiet_time_nothing_is_usual():
    came = np.arange(SPAN.start_ns, SPAN.end_ns, MS, dtype=np.int64)
    whole = Window(start_ns=SPAN.start_ns, end_ns=SPAN.end_ns)
    found = calls([InProgress(came, came + MS)], SPAN, Stretches.of([whole]))
    assert found.times_longer(whole) is None
