"""Times of another clock on the host's axis."""

from __future__ import annotations

import numpy as np
import pytest

from tierlab.tables.clock import ClockReading, on_host

S = 1_000_000_000
NOW = 1_800_000_000 * S


def reading(at_ns: int, offset_ns: int) -> ClockReading:
    return ClockReading(at_ns=at_ns, offset_ns=offset_ns, uncertainty_ns=1)


def test_one_reading_is_an_offset_to_the_nanosecond() -> None:
    theirs = np.array([5, NOW, NOW + 7], np.int64)
    found = on_host([reading(NOW, -3 * S - 1)], theirs)
    assert found.tolist() == [5 - 3 * S - 1, NOW - 3 * S - 1, NOW + 7 - 3 * S - 1]


def test_a_clock_that_goes_wrong_is_followed_from_reading_to_reading() -> None:
    """A guest that loses a millisecond a second, and began a year ago."""
    year = 365 * 86_400 * S
    read = [reading(NOW, year), reading(NOW + 10 * S, year + S // 100)]
    true = NOW + np.array([-S, 0, 5 * S, 10 * S, 20 * S], np.int64)
    lost = np.array([0, 0, 5, 10, 10], np.int64) * (S // 1000)
    assert np.abs(on_host(read, true - year - lost) - true).max() <= 1


def test_a_clock_that_was_never_read_is_refused() -> None:
    with pytest.raises(ValueError, match="never read"):
        on_host([], np.array([1], np.int64))
