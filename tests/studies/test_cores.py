"""Throughput and CPU use by the number of PUs, from given trials."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.studies.made_cases import SUBJECT, trial
from tierlab.studies.cases import Case, Cases, Trial
from tierlab.studies.measured import Measured
from tierlab.studies.measures import OVER_CASES

SECONDS = 10


def on(pus: list[int] | None, per_second: float, *busy: float) -> Trial:
    """A trial whose server was found on these PUs, on a machine whose PUs are so busy."""
    made = trial([per_second] * SECONDS)
    mapping: dict[str, Any] = {} if pus is None else {SUBJECT: {"asked": {}, "found": {"pus": pus}}}
    manifest = made.manifest.model_copy(update={"mapping": mapping})
    return replace(made, manifest=manifest, busy=dict(enumerate(busy)))


def taken(measure: str, *trials: Trial) -> Measured:
    cases = [Case(str(number), {}, {}, [made], None) for number, made in enumerate(trials)]
    return OVER_CASES[measure].take(Cases(cases))


def test_each_core_more_is_held_against_one_less_and_the_least_counts() -> None:
    trials = on([0], 100), on([0, 1], 160), on([0, 1, 2], 200), on([0, 1, 2, 3, 4], 210)
    found = taken("throughput of one more PU", *trials)
    assert found.value == pytest.approx(1.25)
    assert found.words == "1.60: 160/s (2 PUs) and 100/s (1); 1.25: 200/s (3 PUs) and 160/s (2)"


def test_all_cores_are_used_up_where_the_least_used_are() -> None:
    found = taken("least cpu of all pus", on([0], 95, 0.95, 0.2), on([0, 1], 180, 0.98, 0.82))
    assert found.value == pytest.approx(0.9)
    assert found.words == "0.95 of 1; 0.90 of 2 PUs"


@pytest.mark.parametrize("measure", ["throughput of one more PU", "least cpu of all pus"])
def test_without_known_pus_nothing_is_measured(measure: str) -> None:
    assert taken(measure, on(None, 100, 1.0), on(None, 160, 1.0)).value is None


def test_one_number_of_cores_shows_no_growth() -> None:
    assert taken("throughput of one more PU", on([0], 100), on([0], 160)).value is None
