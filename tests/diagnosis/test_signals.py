"""Sampled evidence over windows that do not match its ticks."""

from __future__ import annotations

import numpy as np

from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.signals import FEWEST, Signal, Stretches

MS = 1_000_000
FIRST = 1_700_000_000_000 * MS


def signal(*values: float) -> Signal:
    """Ticks of 50 ms, the third of which was not taken."""
    start = FIRST + 50 * MS * np.array([0, 1, 3, 4], dtype=np.int64)
    return Signal(start, start + 50 * MS, np.array(values))


def window(start_ms: int, end_ms: int) -> Window:
    return Window(start_ns=FIRST + start_ms * MS, end_ns=FIRST + end_ms * MS)


def test_means_on_a_grid_are_exact_and_say_what_was_not_measured():
    found = signal(1.0, 3.0, 5.0, 7.0).means(FIRST + MS * np.array([-50, 0, 25, 75, 100, 150, 250]))
    assert np.isnan(found[[0, 4]]).all()
    assert np.allclose(found[[1, 2, 3, 5]], [1.0, 2.0, 3.0, 6.0])


def test_a_share_of_a_tick_may_all_lie_in_a_shorter_window():
    """A server that waited for a CPU for 18 of 50 ms was taken for a stopped one for 29 ms."""
    seen = signal(0.0, 0.36, 0.0, 0.0)
    short = window(60, 89)
    assert np.isclose(seen.mean(short), 0.36)
    assert np.isclose(seen.at_most(short), 18 / 29)
    assert seen.at_most(window(110, 140)) is None


def test_over_whole_ticks_the_most_is_the_mean():
    seen = signal(0.2, 0.4, 0.0, 0.0)
    assert np.isclose(seen.at_most(window(0, 100)), 0.3)


def test_stretches_join_what_overlaps_and_touch_what_lies_in_them():
    found = Stretches.of([window(300, 400), window(0, 100), window(50, 120)])
    assert (found.start_ns - FIRST).tolist() == [0, 300 * MS]
    assert (found.end_ns - FIRST).tolist() == [120 * MS, 400 * MS]
    at = FIRST + MS * np.array([-50, 0, 110, 120, 250, 350, 400])
    assert found.touch(at, at + 50 * MS).tolist() == [False, True, True, False, False, True, False]
    assert not Stretches.of([]).touch(at, at + 50 * MS).any()


def test_what_is_usual_is_that_of_quiet_time():
    """Most of the run was stalled: its median was what is usual, and nothing was beyond it."""
    start = FIRST + 50 * MS * np.arange(3 * FEWEST, dtype=np.int64)
    value = np.where(np.arange(3 * FEWEST) < FEWEST, 0.4, 0.7)
    stalled = Stretches.of([window(50 * FEWEST, 150 * FEWEST)])
    seen = Signal(start, start + 50 * MS, value, stalled)
    assert seen.usual == 0.4
    here = window(100 * FEWEST, 110 * FEWEST)
    assert np.isclose(seen.beyond(here), 0.3)
    assert np.isclose(seen.share_beyond(here), 0.5), "half of the time that is usually left"
    assert Signal(start, start + 50 * MS, value).usual == 0.7
    assert seen.share_beyond(window(0, 500)) == 0.0


def test_where_next_to_no_time_is_left_chance_does_not_use_it_up():
    """A database that reads all the time: its disk was to blame for whatever else happened."""
    start = FIRST + 50 * MS * np.arange(3 * FEWEST, dtype=np.int64)
    value = np.where(np.arange(3 * FEWEST) < FEWEST, 1.0, 0.95)
    here = window(0, 50 * FEWEST)
    seen = Signal(start, start + 50 * MS, value, Stretches.of([here]))
    assert seen.usual == 0.95
    assert np.isclose(seen.share_beyond(here), 0.2)


def test_of_too_little_time_nothing_is_known_to_be_usual():
    assert signal(1.0, 1.0, 1.0, 1.0).usual == 0.0
