"""An overload near capacity, and a neighbour or a surge that comes within it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tierlab.diagnosis.causes import burst, cpu, lock, overload
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.overtaken import up_to_neighbours

from .made_stall import MS
from .test_backlog import machine, occurrence

AT_MS = 4_740


def told(other, *, before=10.0, start_ms=0, end_ms=9_350, at_ms=AT_MS, strength=0.97):
    """What is left of an overload when so many wait before another one's onset, and 1,000 after;
    in milliseconds.
    """
    full, held = occurrence(overload, start_ms, end_ms), occurrence(other, at_ms, at_ms + 2_800)
    held = replace(held, verdict=replace(held.verdict, strength=strength))
    onset_ns = held.stall.window.start_ns
    found = up_to_neighbours(
        [full],
        [held],
        SimpleNamespace(run=machine(0.8), attribute=lambda stall: Occurrence(stall, full.verdict)),
        lambda _server, window: before if window.end_ns <= onset_ns else 1_000.0,
    )
    zero_ns = full.stall.window.start_ns - start_ms * MS
    return [
        ((each.stall.window.start_ns - zero_ns) // MS, (each.stall.window.end_ns - zero_ns) // MS)
        for each in found
    ]


@pytest.mark.parametrize("other", [cpu, burst])
def test_a_neighbour_within_it_is_not_counted_to_it(other):
    """CPUs were full for 4.7 s, and requests took 8 to 26 ms; then a neighbour came for 2 s, and
    they took 1.8 s. That was one overload of 9.4 s, and the neighbour was not told.
    """
    assert told(other) == [(0, AT_MS)]


def test_less_than_two_seconds_before_it_are_none():
    assert told(cpu, start_ms=3_000) == []


@pytest.mark.parametrize(
    "others",
    [{"before": 500.0}, {"end_ms": 38_000}, {"strength": 0.5}, {"at_ms": -1_000}],
    ids=["as many waited before", "longer than it can have left", "hardly believed", "earlier"],
)
def test_an_overload_that_another_does_not_explain_is_told_whole(others):
    assert told(cpu, **others) == [(0, others.get("end_ms", 9_350))]


def test_what_leaves_the_cpus_idle_does_not_lengthen_it():
    assert told(lock) == [(0, 9_350)]
