"""The simulated guest does what a queue with so many servers does, where that is known."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "studies"))

from guest_scheduler import SERVICE_S, SLICE_S, Guest, VirtualCpu


def test_work_goes_on_in_the_slices_that_a_virtual_cpu_has() -> None:
    half = VirtualCpu(0.5, phase_s=0.0)
    assert half.end_s(0.0, 0.010) == pytest.approx(0.010)
    # It begins in the pause, and waits for the next slice.
    assert half.end_s(SLICE_S * 1.5, 0.010) == pytest.approx(2 * SLICE_S + 0.010)
    # It does not end in what is left of this slice: 10 ms of 20 are done in the next one.
    assert half.end_s(0.020, 0.020) == pytest.approx(2 * SLICE_S + 0.010)
    assert VirtualCpu(1.0, phase_s=0.0).end_s(3.0, 0.5) == 3.5
    assert [half.has_pu(time) for time in (0.0, 0.029, 0.031, 0.061)] == [True, True, False, True]


@pytest.mark.parametrize(
    ("shares", "full"), [([1.0], 1.0), ([0.25], 0.25), ([1.0] * 4, 4.0), ([0.25] * 4, 1.0)]
)
def test_busy_virtual_cpus_serve_as_much_as_they_are_given(
    shares: list[float], full: float
) -> None:
    found = Guest(shares, seed=1).throughput(20_000)
    # Between two requests of a client a virtual CPU may be idle for a moment, and loses its slice.
    assert 0.85 * full / SERVICE_S <= found <= 1.02 * full / SERVICE_S


def test_the_same_seed_is_the_same_run() -> None:
    assert Guest([1.0, 0.5], 7).throughput(500) == Guest([1.0, 0.5], 7).throughput(500)
