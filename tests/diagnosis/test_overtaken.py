"""An overload near capacity, and a neighbour or a surge that comes within it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tierlab.diagnosis.causes import burst, cpu, lock, overload
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.overtaken import up_to_neighbours

from . import made_overload, made_stall
from .made_overload import COST_S, MOST
from .made_stall import MS, START, TICK
from .signatures import diagnosed
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


FULL = (START + 8_000 * MS, START + 15_000 * MS)
NEIGHBOUR = (START + 12_000 * MS, START + 14_000 * MS)


def overtaken(folder, monkeypatch):
    """A run whose CPUs are full from 8 s on, requests taking 40 ms, and in which a neighbour takes
    most of them from 12 to 14 s: what piles up then is worked off within a second.
    """
    monkeypatch.setattr(made_overload, "FULL", FULL)
    monkeypatch.setattr(made_overload, "_requests", lambda _dear, _slower: requests())
    made_overload.make(folder)
    rows = made_stall.read(folder, "domain")
    for row in rows:
        if NEIGHBOUR[0] < row["t_ns"] - TICK // 2 < NEIGHBOUR[1]:
            row["cpu_ns"] = int(30 * COST_S[row["subject"]] * TICK)
    made_stall.write(folder, "domain", rows)
    return folder


def requests():
    """When each began and ended, and what it asked for."""
    found, at, left = [], START, START
    while at < START + made_overload.LENGTH - 100 * MS:
        full = made_overload.is_full(at)
        rate = 30 if NEIGHBOUR[0] <= left < NEIGHBOUR[1] else 200
        left = max(at + (40 if full else 10) * MS, left + 1_000 * MS // rate)
        found.append((at, left, "GET /page"))
        at += 1_000 * MS // (MOST if full else 50)
    return found


def test_both_are_told_of_a_run_that_had_both(tmp_path, monkeypatch):
    found = diagnosed(overtaken(tmp_path, monkeypatch)).findings
    windows = {each.cause: each.windows for each in found}
    assert set(windows) == {"overload", "cpu"}
    (full,) = windows["overload"]
    assert full.start_ns == pytest.approx(FULL[0], abs=1_000 * MS)
    assert full.end_ns == pytest.approx(NEIGHBOUR[0], abs=600 * MS)
