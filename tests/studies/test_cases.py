"""Measures over the trials of a study against figures counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.studies.made_cases import environment, placed, trial
from tierlab.studies.cases import Case, Cases
from tierlab.studies.measures import OVER_CASES

STEADY = [100.0, 101, 99, 100, 100, 100]


def uneven(by: float) -> list[float]:
    return [100 - by, 100 + by] * 3


def value(measure: str, *cases: Case) -> float | None:
    return OVER_CASES[measure].take(Cases(cases)).value


def words(measure: str, *cases: Case) -> str:
    return OVER_CASES[measure].take(Cases(cases)).words


def test_a_trial_is_cut_into_runs_and_what_is_left_over_is_left_out() -> None:
    made = trial([10, 20, 30, 40, 50])
    assert made.runs(2).tolist() == [15, 35]
    assert made.throughput == 30


def test_a_run_has_the_dnu_of_its_middle() -> None:
    turns = trial([1] * 8, [(0, 0.0), (4, 0.45)])
    assert turns.dnu(2).tolist() == [0, 0, 0.45, 0.45]
    assert np.isnan(trial([1] * 4).dnu(2)).all()


def test_runs_of_several_trials_are_one_case() -> None:
    case = Case("c", {}, {}, [trial([10, 12], [(0, 0.2)]), trial([14, 12], [(0, 0.2)])], 1.0)
    assert case.runs.tolist() == [10, 12, 14, 12]
    # Variance 8/3 over a mean of 12.
    assert case.instability.adin == pytest.approx(8 / 3 / 12)
    assert case.instability.mmr == pytest.approx(1.4)
    assert case.dnu == 0.2


def test_instability_that_rises_with_dnu_correlates_fully_and_what_falls_the_other_way() -> None:
    rising = [placed(str(d), d, uneven(100 * d)) for d in (0.1, 0.2, 0.4, 0.5)]
    falling = [placed(str(d), d, uneven(60 - 100 * d)) for d in (0.1, 0.2, 0.4, 0.5)]
    assert value("instability follows dnu", *rising) == pytest.approx(1)
    assert value("instability follows dnu", *falling) == pytest.approx(-1)


def test_the_papers_own_table_has_the_correlation_that_is_stated() -> None:
    dnu = (0, 0, 0, 0.32, 0.53, 0.30, 0.45, 0.17, 0.24)
    adin = (1.17, 0.18, 0.13, 57.53, 82.47, 13.41, 10.45, 0.97, 1.03)
    # Six runs around 100, three to each side by d, have a variance of 6/5 d^2.
    cases = [
        placed(str(n), d, uneven(float(np.sqrt(100 * a * 5 / 6))))
        for n, (d, a) in enumerate(zip(dnu, adin, strict=True))
    ]
    assert value("instability follows dnu", *cases) == pytest.approx(0.85, abs=0.005)
    assert words("uneven less stable", *cases) == "16 of 18 pairs"


@pytest.mark.parametrize(
    "cases",
    [
        [placed("a", 0.1, STEADY), placed("b", 0.2, uneven(5))],
        [placed(str(d), 0.0, uneven(d)) for d in (1, 2, 3, 4)],
        [placed(str(d), d / 10, [100.0, 90]) for d in (1, 2, 3, 4)],
        [environment(str(d), trial(uneven(d))) for d in (1, 2, 3, 4)],
    ],
    ids=["too few cases", "one dnu", "too few runs", "not placed"],
)
def test_no_correlation_is_claimed_of_too_little(cases: list[Case]) -> None:
    assert value("instability follows dnu", *cases) is None


def test_mmr_is_of_the_uniform_and_of_the_uneven_cases_apart() -> None:
    cases = [placed("even", 0.0, uneven(2)), placed("a", 0.2, uneven(10)), placed("b", 0.3, STEADY)]
    assert value("highest mmr uniform", *cases) == pytest.approx(102 / 98)
    assert words("highest mmr uneven", *cases) == f"{110 / 90:.2f}/1, at a"
    assert value("highest mmr uneven", cases[0]) is None


def test_turns_are_compared_within_a_case() -> None:
    per_second = [99, 101, 98, 102, 90, 110, 80, 120]
    turns = Case("t", {}, {}, [trial(per_second, [(0, 0.0), (4, 0.45)])], 1.0)
    # Variances of 10/3 and 1000/3 around the same mean.
    assert value("unstable turns", turns) == pytest.approx(100)
    assert value("unstable turns", placed("even", 0.0, uneven(3))) is None


def test_of_two_cases_the_one_with_the_higher_dnu_is_the_dividend() -> None:
    light, heavy = placed("25 %", 0.3, uneven(10)), placed("12.5 %", 0.45, uneven(20))
    assert value("heavier less stable", heavy, light) == pytest.approx(4)
    assert value("heavier less stable", heavy) is None


def test_environments_are_compared_with_bare_processes() -> None:
    cases = [
        environment("native", trial([100, 100], response_s=0.010, cpu_s=0.002)),
        environment("podman", trial([99, 99], response_s=0.011, cpu_s=0.0022)),
        environment("lxc", trial([98, 98], response_s=0.012, cpu_s=0.0021)),
        environment("qemu", trial([95, 95], response_s=0.044, cpu_s=0.020)),
    ]
    assert value("least throughput", *cases) == pytest.approx(0.95)
    assert value("container response", *cases) == pytest.approx(1.2)
    assert value("machine response", *cases) == pytest.approx(4)
    assert value("container cpu", *cases) == pytest.approx(1.1)
    assert value("machine cpu", *cases) == pytest.approx(10)
    assert value("machine cpu", *cases[:3]) is None
    assert value("least throughput", *cases[1:]) is None


def test_cpu_time_that_was_not_measured_is_no_zero() -> None:
    cases = [environment("native", trial([1, 1])), environment("qemu", trial([1, 1], cpu_s=1))]
    assert value("machine cpu", *cases) is None
