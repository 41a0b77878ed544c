"""For how long CPUs were full, with moments of spare time within."""

import numpy as np
import pytest

from tierlab.analysis.span import WINDOW_NS, Span
from tierlab.diagnosis.saturated import SMOOTH, _stretches


@pytest.mark.parametrize(
    ("full", "spare", "is_one"),
    [(14, 0.8, False), (19, 0.8, True), (14, 0.96, True)],
    ids=["with 0.3 s to spare of each second", "with 0.05 s", "with next to nothing to spare"],
)
def test_cpus_that_are_full_now_and_then_are_not_full_for_seconds(full, spare, is_one):
    """RUBiS at 80 % of its capacity, 85 % busy: each moment of full CPUs was within a second of the
    next, and overloads of 4 to 18 s were told before what had been injected within them.
    """
    busy = np.where(np.arange(200) % 20 < full, 1.0, spare)
    assert bool(_stretches(busy, Span(0, busy.size * WINDOW_NS))) == is_one


def test_an_overload_with_moments_of_full_cpus_behind_it_is_told_up_to_where_it_ended():
    """Judged as a whole it was not full: it was passed over, and its parts were stalls."""
    tail = np.where(np.arange(600) % 20 < 14, 1.0, 0.8)
    busy = np.concatenate([np.full(100, 0.5), np.full(200, 1.0), tail])
    (found,) = _stretches(busy, Span(0, busy.size * WINDOW_NS))
    assert abs(found.start_ns - 100 * WINDOW_NS) <= SMOOTH * WINDOW_NS
    assert 200 * WINDOW_NS <= found.end_ns - found.start_ns <= 350 * WINDOW_NS
