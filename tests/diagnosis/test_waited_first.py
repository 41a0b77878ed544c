"""Full CPUs that only work off what had waited are no overload, whether it is known for what."""

from __future__ import annotations

import numpy as np
import pytest

from tierlab.diagnosis.causes import lock, overload
from tierlab.diagnosis.signals import Signal
from tierlab.diagnosis.waited_first import without_waited_first

from .made_stall import MS
from .test_backlog import occurrence

TICK_MS = 50
LENGTH_MS = 20_000
STARTED_MS = 10_000


class Machine:
    """A run whose two CPUs are full in these stretches, with so many visits at the first server at
    these times and from there on.
    """

    def __init__(self, full_ms, visits, usual=4.0):
        start = np.arange(0, LENGTH_MS, TICK_MS)
        busy = np.full(start.size, 1.4)
        for a, b in full_ms:
            busy[(start >= a) & (start < b)] = 2.0
        self._busy = Signal(start * MS, (start + TICK_MS) * MS, busy)
        self._at_ms, self._visits = [np.array(each) for each in zip(*visits, strict=True)]
        self._usual = usual
        self.cores = self.signals = self

    def of(self, _server, _at_ns):
        return ("cpu0", "cpu1")

    def together(self, _table, _value, _names):
        return self._busy

    def entry_of(self, _server):
        return "web.1"

    def usually_in_progress(self, _server):
        return self._usual

    def in_progress(self, _server, t_ns):
        return np.interp(t_ns / MS, self._at_ms, self._visits)


@pytest.mark.parametrize(
    ("visits", "is_told"),
    [
        ([(9_000, 4), (9_900, 60), (11_000, 80), (12_000, 4)], False),
        ([(9_900, 4), (11_000, 80), (12_000, 4)], True),
        ([(9_800, 4), (9_900, 20), (11_000, 80), (12_000, 4)], True),
    ],
    ids=["most had waited", "nobody had", "a few had"],
)
def test_an_overload_whose_requests_had_waited_before_is_their_backlog(visits, is_told):
    """Without its cause in the catalogue a hold at 80 % of capacity left full CPUs for longer than
    it lasted itself, and these were told.
    """
    full = occurrence(overload, STARTED_MS, STARTED_MS + 2_000)
    machine = Machine([(10_000, 12_000)], visits)
    assert (full in without_waited_first([full], machine)) == is_told


@pytest.mark.parametrize(("pause_ms", "is_told"), [(300, True), (1_200, False)])
def test_a_moment_with_cpu_to_spare_does_not_part_an_overload(pause_ms, is_told):
    """The queue of its first part is there when the second begins."""
    visits = [(5_000, 4), (8_000, 80), (12_000, 80), (13_000, 4)]
    machine = Machine([(5_000, STARTED_MS - pause_ms), (STARTED_MS, 13_000)], visits)
    full = occurrence(overload, STARTED_MS, 13_000)
    assert (full in without_waited_first([full], machine)) == is_told


def test_nothing_but_an_overload_is_left_out():
    waited = [(0, 80), (20_000, 80)]
    held = occurrence(lock, STARTED_MS, 12_000)
    assert without_waited_first([held], Machine([(10_000, 12_000)], waited)) == [held]


def test_cpus_that_were_never_full_say_nothing():
    full = occurrence(overload, STARTED_MS, 12_000)
    assert without_waited_first([full], Machine([], [(0, 80), (20_000, 80)])) == [full]


def test_without_messages_nobody_knows_who_waited():
    full = occurrence(overload, STARTED_MS, 12_000)
    machine = Machine([(10_000, 12_000)], [(0, 0), (20_000, 0)], usual=None)
    assert without_waited_first([full], machine) == [full]
