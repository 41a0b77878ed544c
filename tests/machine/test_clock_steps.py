"""A clock that is set while a trial runs."""

from __future__ import annotations

import time

import pytest

from tierlab.machine.clock_steps import ClockSteps, difference_ns

START_NS = 1_800_000_000_000_000_000


def steps(*differences_ns: int) -> str | None:
    """What is said of readings, relative to the first, one after the other."""
    readings = iter([START_NS, *(START_NS + each for each in differences_ns)])
    watched = ClockSteps(lambda: next(readings))
    for _ in differences_ns:
        watched.check()
    return watched.note()


def test_a_clock_that_nobody_sets_is_not_spoken_of() -> None:
    assert steps(0, 100_000, -200_000, 2_000_000) is None
    watched = ClockSteps()
    for _ in range(20):
        time.sleep(0.005)
        watched.check()
    assert watched.note() is None


@pytest.mark.parametrize(
    ("differences", "words"),
    [
        ((0, 3_000_000_000, 3_000_000_000), "set once, by up to 3.00 s forward"),
        ((-40_000_000,), "set once, by up to 0.04 s back"),
        ((2_000_000_000, 0), "set 2 times, by up to 2.00 s forward"),
        (
            (-3_600_000_000_000, -3_600_000_000_000 + 20_000_000),
            "set 2 times, by up to 3,600.00 s back",
        ),
    ],
)
def test_a_clock_that_was_set_is_noted(differences: tuple[int, ...], words: str) -> None:
    note = steps(*differences)
    assert note is not None
    assert words in note


def test_the_difference_is_that_of_the_two_clocks() -> None:
    assert abs(difference_ns() - (time.time_ns() - time.monotonic_ns())) < 5_000_000
