"""Events over time: none is counted twice, and ratios are of the same ticks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tierlab.analysis.comparing.blocks import Counted, blocks
from tierlab.analysis.comparing.compare import compare
from tierlab.analysis.observed import Observed
from tierlab.analysis.resources.event_rates import (
    EventKind,
    a_request,
    event_kinds,
    rates,
    ratios,
)
from tierlab.analysis.resources.profile import profile
from tierlab.analysis.span import Span

from .conftest import Tiny

SECOND = 1_000_000_000
TICK = 50_000_000
SECONDS = 10
SPAN = Span(0, SECONDS * SECOND)
INSTRUCTIONS, MISSES = 1_000_000, 500
SAMPLED = {"dt_ns": 0, "binary": "/usr/sbin/mariadbd", "symbol": "row_search", "period": 100_000}


def counters(misses: int = MISSES) -> list[dict[str, Any]]:
    """Of every tick two PUs' instructions and misses; some of the misses are sampled, too."""
    found: list[dict[str, Any]] = []
    for tick in range(1, SECONDS * SECOND // TICK):
        for cpu in (0, 1):
            whole = {"t_ns": tick * TICK, "dt_ns": TICK, "cpu": cpu, "source": "pmu"}
            for domain, share in (("db.1", 2), ("app.1", 1)):
                of = {**whole, "domain": domain}
                found.append({**of, "event": "instructions", "count": INSTRUCTIONS * share})
                found.append({**of, "event": "cache-misses", "count": misses * (1 + cpu)})
        sample = {"t_ns": tick * TICK + 1, "cpu": 0, "domain": "db.1", "source": "pmu"}
        found.append({**sample, **SAMPLED, "event": "cache-misses", "count": 100_000})
    clock = {"source": "software", "event": "cpu-clock", "count": 10_000_000, "cpu": 0}
    found.append({"t_ns": SECOND, "domain": "idle", **SAMPLED, **clock})
    return found


def requests() -> list[dict[str, Any]]:
    """Ten a second, each of a tenth of a second."""
    return [
        {
            "request": number,
            "interaction": "home",
            "intended_ns": number * SECOND // 10,
            "end_ns": number * SECOND // 10 + SECOND // 10 - 1,
            "status": 200,
        }
        for number in range(10 * SECONDS)
    ]


@pytest.fixture
def run(tiny: Tiny) -> Observed:
    return tiny({"counters": counters(), "requests": requests()}, seconds=SECONDS)


def by_subject(found: list[Any]) -> dict[str, float]:
    return {each.subject: float(np.nanmean(each.value)) for each in found}


def test_what_was_counted_is_told_by_core_and_server(run: Observed) -> None:
    misses, instructions = event_kinds(run.db, SPAN)
    assert misses == EventKind("cache-misses", "pmu", whole=True)
    a_second = SECOND / TICK
    # What was sampled of them as well is not added.
    assert by_subject(rates(run.db, SPAN, misses, "cpu")) == {
        "cpu0": pytest.approx(2 * MISSES * a_second),
        "cpu1": pytest.approx(4 * MISSES * a_second),
    }
    assert by_subject(rates(run.db, SPAN, instructions, "domain")) == {
        "app.1": pytest.approx(2 * INSTRUCTIONS * a_second),
        "db.1": pytest.approx(4 * INSTRUCTIONS * a_second),
    }


def test_misses_are_told_for_each_instruction_and_request(run: Observed) -> None:
    misses, instructions = event_kinds(run.db, SPAN)
    assert by_subject(ratios(run.db, SPAN, misses, instructions)) == {
        "app.1": pytest.approx(3 * MISSES / (2 * INSTRUCTIONS)),
        "db.1": pytest.approx(3 * MISSES / (4 * INSTRUCTIONS)),
    }
    for each in a_request(run.db, SPAN, misses):
        assert each.value[1:-1] == pytest.approx(3 * MISSES * SECOND / TICK / 10)


def test_a_tick_that_began_before_the_span_is_of_its_first_second(run: Observed) -> None:
    """A report of simulated caches was not made: a tick's middle lay before the trial's start."""
    misses, _ = event_kinds(run.db, SPAN)
    late = Span(SECOND + TICK // 10, SPAN.end_ns)
    for each in a_request(run.db, late, misses):
        assert each.t_ns[0] == late.start_ns + SECOND // 2


def test_functions_are_told_of_what_was_sampled_alone(run: Observed) -> None:
    (event,) = profile(run.db, SPAN)
    assert (event.event, event.samples) == ("cache-misses", SECONDS * SECOND // TICK - 1)
    assert [each.symbol for each in event.domains[0].symbols] == ["row_search"]


def test_trials_are_compared_by_events_too(tiny: Tiny) -> None:
    sides = []
    for misses in (MISSES, MISSES, 2 * MISSES, 2 * MISSES):
        observed = tiny({"counters": counters(misses), "requests": requests()}, seconds=SECONDS)
        sides.append(blocks(observed.db, SPAN))
    assert sides[0].counted[Counted("db.1", "cache-misses", "pmu")].sum() == pytest.approx(
        3 * MISSES * (SECONDS * SECOND // TICK - 1)
    )
    (found,) = compare([(sides[:2], sides[2:])])
    of = {each.measure: each for each in found}
    assert of["db.1: cache-misses a request (pmu)"].change == pytest.approx(1.0)
    assert of["db.1: cache-misses an instruction (pmu)"].change == pytest.approx(1.0)
    assert of["db.1: instructions a request (pmu)"].change == pytest.approx(0.0)
    assert not [name for name in of if "idle" in name]
