"""What follows from a finding is not told beside it; from what is no finding nothing follows."""

import pytest

from tierlab.diagnosis.causes import overload, pool
from tierlab.diagnosis.consequences import without_consequences

from .test_backlog import occurrence
from .test_waited_first import Machine


class Busy(Machine):
    """One of whose CPUs alone, and of whose threads, nothing is known."""

    def get(self, _table, _value, _subject):
        return None

    def busiest_thread(self, _subject):
        return None


@pytest.mark.parametrize(
    ("waiting_before", "told"), [(4, [overload.NAME]), (60, [pool.NAME])], ids=["nobody", "most"]
)
def test_an_overload_that_is_a_backlog_takes_no_exhausted_pool_with_it(waiting_before, told):
    """Full CPUs for 6 s, and a pool that is used up within. Where most had waited before, these
    are a backlog, and without the pool nothing at all was told.
    """
    run = Busy([(10_000, 16_000)], [(9_900, waiting_before), (12_000, 80), (16_000, 4)])
    full, used_up = occurrence(overload, 10_000, 16_000), occurrence(pool, 12_000, 13_000)
    found = without_consequences([full], [used_up], run)
    assert [each.cause for each in found] == told
