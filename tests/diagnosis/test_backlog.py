"""What piled up while a server stood still is told of once, by what held it back."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tierlab.diagnosis.backlog import without_backlogs
from tierlab.diagnosis.causes import burst, cpu, freeze, lock, overload, quota
from tierlab.diagnosis.finding import Suspect
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.verdicts import Assessment, Verdict

from .test_incidents import stall


def occurrence(cause, start_ms, end_ms, core_ms=None):
    """A stall of db.1 of which that cause is sure; None: for which none is known."""
    if cause is None:
        return Occurrence(stall("db.1", start_ms, end_ms, 100, core_ms), Verdict(None, 0.0, []))
    suspect = Suspect(cause=cause.NAME, subject="db.1", least=1.0, most=1.0, evidence=[])
    found = Verdict(Assessment(cause.CAUSE, None, suspect), 0.9, [])
    return Occurrence(stall("db.1", start_ms, end_ms, 100), found)


def machine(busy, thread=None):
    """A run on one CPU that is usually so busy, and so is the thread that all requests need."""
    figure = SimpleNamespace(usual=busy)
    ran = None if thread is None else SimpleNamespace(usual=thread)
    signals = SimpleNamespace(get=lambda *_key: figure, busiest_thread=lambda _server: ran)
    return SimpleNamespace(
        cores=SimpleNamespace(of=lambda _server, _at_ns: ("cpu0",)), signals=signals
    )


@pytest.mark.parametrize("follows", [overload, burst])
@pytest.mark.parametrize("stalled", [quota, freeze, cpu, lock, None])
def test_a_backlog_being_served_is_no_overload_and_no_surge(stalled, follows):
    """A limit on the database's CPU time for 1.8 s at 80 % of capacity was called an overload, and
    so were a neighbour on its CPUs for 0.7 s and a lock of 1.6 s; and, where their cause was not in
    the catalogue, whatever held requests back for a second.
    """
    held, after = occurrence(stalled, 0, 1800), occurrence(follows, 1700, 5000)
    assert without_backlogs([held, after], [held], machine(0.8)) == [held]


def test_a_thread_that_all_requests_need_catches_up_as_slowly_as_full_cpus():
    held, after = occurrence(lock, 0, 1800), occurrence(overload, 1700, 5000)
    assert without_backlogs([held, after], [held], machine(0.1, thread=0.8)) == [held]


@pytest.mark.parametrize(("stalled", "is_told"), [(cpu, False), (freeze, True)])
def test_a_neighbour_fills_the_cpus_before_requests_are_late(stalled, is_told):
    """One of 0.7 s was told as an overload of 2.1 s: full 30 ms before the first was late."""
    held, full = occurrence(stalled, 30, 1130), occurrence(overload, 0, 2100)
    assert (full in without_backlogs([held, full], [held], machine(0.8))) == is_told


def test_a_lock_in_the_middle_of_an_overload_does_not_excuse_it():
    held, full = occurrence(lock, 500, 2300), occurrence(overload, 0, 5000)
    assert without_backlogs([full], [held], machine(0.8)) == [full]


@pytest.mark.parametrize(
    ("busy", "start_ms", "end_ms"),
    [(0.8, 1700, 1700 + 14500), (0.3, 1700, 1700 + 1600), (0.8, 4000, 5000), (0.8, -500, 1000)],
    ids=["longer than that takes", "CPUs that catch up soon", "long after it", "before it"],
)
def test_an_overload_that_a_stall_cannot_have_left_is_told(busy, start_ms, end_ms):
    held, full = occurrence(freeze, 0, 1800), occurrence(overload, start_ms, end_ms)
    assert without_backlogs([held, full], [held, full], machine(busy)) == [held, full]


def test_an_overload_is_told_beside_the_wait_of_no_known_cause_that_it_is():
    """Too many users of RUBBoS for 38 s were called a wait of no known cause at the web server."""
    held, full = occurrence(None, 0, 38_700), occurrence(overload, 60, 38_000)
    assert without_backlogs([held, full], [held, full], machine(0.8)) == [held, full]


def test_the_full_cpus_that_a_surge_brings_about_are_no_overload_beside_it():
    """A surge of 1.6 s at 80 % of capacity was called the overload that it made."""
    came, full = occurrence(burst, 138, 2238), occurrence(overload, 346, 2345)
    assert without_backlogs([full, came], [came], machine(0.8)) == [came]


@pytest.mark.parametrize(("start_ms", "end_ms"), [(346, 9000), (0, 2345)])
def test_an_overload_that_begins_with_a_surge_or_outlasts_it_is_told(start_ms, end_ms):
    came, full = occurrence(burst, 138, 2238), occurrence(overload, start_ms, end_ms)
    assert without_backlogs([full, came], [came], machine(0.8)) == [full, came]


@pytest.mark.parametrize(("core_ms", "is_told"), [(1350, False), (4920, True), (300, True)])
def test_an_overload_that_began_when_the_first_who_waited_went_on_is_no_new_trouble(
    core_ms, is_told
):
    """A table was locked for 1.35 s at 80 % of capacity. With locks taken out of the catalogue the
    wait has no known cause, and goes on while the CPUs work off what piled up: that was told first.
    """
    held, full = occurrence(None, 0, 4920, core_ms), occurrence(overload, 1440, 5540)
    assert (full in without_backlogs([held, full], [held], machine(0.8))) == is_told
