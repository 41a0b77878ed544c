"""Pool: how many connections waited to be accepted, at a moment and for long."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tierlab.diagnosis.causes.pool import at_work, kept_waiting
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.signals import Signal
from tierlab.diagnosis.thresholds import support

MS = 1_000_000
FIRST = 1_700_000_000_000 * MS
TICK = 50 * MS
USUAL = 2
"""One that waits in every tick is none that a stall keeps waiting."""


def context(length_ms: int, *waiting: int):
    """A window whose ticks have so many that wait, in a run in which two usually do."""
    value = np.full(200, float(USUAL))
    value[100 : 100 + len(waiting)] = waiting
    start = FIRST + TICK * np.arange(200, dtype=np.int64)
    window = Window(start_ns=int(start[100]), end_ns=int(start[100]) + length_ms * MS)
    queue = Signal(start, start + TICK, value)
    return SimpleNamespace(
        window=window, signal=lambda *figure: {("listen", "accept_queue"): queue}.get(figure)
    )


def test_in_a_short_stall_the_most_at_once_were_kept_waiting():
    assert kept_waiting(context(950, *[USUAL] * 9, 14)) == 14 - USUAL


def test_who_came_when_the_stall_was_over_was_not_kept_waiting():
    """A web server without CPU for 242 ms sent all on at once when it had some again: 96 waited at
    the application's, read in the tick that the stall ended in, and its pool was named.
    """
    assert kept_waiting(context(242, *[USUAL] * 4, 96)) == 0


def test_a_moment_that_only_the_tick_it_ends_in_shows_is_seen():
    assert kept_waiting(context(70, USUAL, 14)) == 14 - USUAL


@pytest.mark.parametrize(("ticks", "kept"), [(1, 0), (9, 0), (11, 12), (20, 12)])
def test_in_what_lasts_those_count_who_wait_as_a_rule(ticks, kept):
    """A few come at once in any second: they are accepted in the next tick."""
    assert kept_waiting(context(1000, *[14] * ticks)) == kept


def test_fewer_than_usual_are_none():
    assert kept_waiting(context(1000, *[0] * 20)) == 0


def test_without_a_queue_that_was_seen_nothing_is_said():
    unseen = context(1000)
    unseen.signal = lambda *_: None
    assert kept_waiting(unseen) is None
    outside = context(1000)
    outside.window = Window(start_ns=FIRST - 3000 * MS, end_ns=FIRST - 1000 * MS)
    assert kept_waiting(outside) is None


@pytest.mark.parametrize(
    ("threads", "declared", "cpus", "used", "busy"),
    [
        (40, True, 16, 3.0, 0.0),  # 37 of them wait for something
        (40, True, 16, 8.0, 1.0),
        (40, True, 2, 1.0, 1.0),
        (40, True, 2, 0.5, 0.0),
        (1, True, 16, 1.0, 1.0),
        (4, False, 16, 1.0, 1.0),  # they are no workers: one thread serves all
        (40, None, 16, 1.0, 1.0),
    ],
)
def test_a_server_of_many_workers_is_not_at_work_by_one_of_them(
    threads, declared, cpus, used, busy
):
    here = SimpleNamespace(
        limits={"threads": threads},
        worker_threads=declared,
        cores=tuple(f"cpu{n}" for n in range(cpus)),
        mean=lambda table, *_: {"domain": used, "pressure": 0.0}[table],
    )
    assert support("at work", at_work(here)) == busy
