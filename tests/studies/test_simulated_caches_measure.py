"""Misses on two packages over those on one, from trials whose counts are given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tierlab.analysis.comparing.blocks import Counted
from tierlab.studies.caches import FACTOR, MORE_MISSES
from tierlab.studies.cases import Case, Cases

from .made_cases import trial

ONE = "pack:1 l3:1(size=8MiB) core:2 pu:1"
TWO = "pack:2 l3:1(size=8MiB) core:1 pu:1"


def case(machine: str, misses: float, source: str = "simulated") -> Case:
    made = trial([10.0] * 5)
    counted = {
        Counted(domain, event, source): np.full(5, count)
        for domain in ("app.1", "db.1")
        for event, count in (("LLC-misses", misses), ("instructions", 1_000_000.0))
    }
    return Case(
        machine,
        {},
        {FACTOR: machine},
        [replace(made, blocks=replace(made.blocks, counted=counted))],
        None,
    )


def test_misses_are_those_of_all_guests_for_an_instruction() -> None:
    found = MORE_MISSES.take(Cases([case(ONE, 1_000.0), case(TWO, 2_500.0)]))
    assert found.value == pytest.approx(2.5)
    assert found.words == "2.50: 2.5 and 1 of 1,000 instructions"


def test_without_both_machines_or_a_simulation_there_is_no_figure() -> None:
    alone = Cases([case(ONE, 1_000.0)])
    counted = Cases([case(ONE, 1_000.0, "pmu"), case(TWO, 1_000.0, "pmu")])
    for cases in (alone, counted):
        assert MORE_MISSES.take(cases).value is None
