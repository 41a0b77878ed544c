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


def test_machines_are_compared_with_bare_processes_where_there_is_no_container() -> None:
    xen = trial([9, 9], response_s=0.065, cpu_s=0.004)
    # What domain 0 took for the others is in the sum: 18 requests, 0.9 s.
    xen.blocks.cpu_s["Domain-0"] = np.array([0.4, 0.5])
    native = trial([10, 10], response_s=0.010, cpu_s=0.002)
    cases = [environment("native", native), environment("xen", xen)]
    assert value("machine response over base", *cases) == pytest.approx(6.5)
    assert value("machine cpu in all", *cases) == pytest.approx((0.004 + 0.9 / 18) / 0.002)
    assert value("machine cpu in all", cases[0]) is None
    lacking = environment("xen", trial([9, 9], response_s=0.065))
    assert value("machine cpu in all", cases[0], lacking) is None


def loaded(name: str, users: int, per_second: float, response_s: float, cpu_s: float) -> Case:
    levels = {"system.environment": name, "load.users": users}
    made = trial([per_second] * 2, response_s=response_s, cpu_s=cpu_s)
    return Case(f"{name}, {users}", {}, levels, [made], None)


def test_loads_are_compared_within_an_environment_and_environments_at_a_load() -> None:
    cases = [
        loaded("native", 500, 70, 0.010, 0.0020),
        loaded("native", 800, 112, 0.011, 0.0020),
        loaded("podman", 500, 70, 0.011, 0.0021),
        loaded("podman", 800, 84, 0.022, 0.0030),
    ]
    assert value("throughput by load", *cases) == pytest.approx(0.75)
    assert words("throughput by load", *cases) == "1.00 (native); 0.75 (podman)"
    assert value("throughput by load", *cases[:2]) == pytest.approx(1)
    assert value("container response by load", *cases) == pytest.approx(2)
    assert value("response growth", *cases) == pytest.approx(2)
    assert value("response growth", *cases[:2]) == pytest.approx(1.1)
    assert value("container cpu by load", *cases) == pytest.approx(1.5)
    # 0.147 cores at 500 users, 0.252 at 800.
    assert value("cpu by load", *cases) == pytest.approx(0.252 / 0.147 / 1.6)
    # The one server there is calls nobody.
    assert value("database cpu", *cases) == pytest.approx(0.252)
    assert value("throughput by load", *cases[1:3]) is None
    assert value("container response by load", *cases[:2]) is None
    assert value("container response by load", cases[0], cases[3]) is None


def consolidated(systems: int, users: int, per_second: float, response_s: float) -> Case:
    """So many systems of one web server each, whose requests take 2 ms of CPU there."""
    levels = {"system.site.count": systems, "system.site.load.users": users}
    made = trial([per_second] * 2, response_s=response_s)
    web = made.manifest.servers.pop("web.1")
    made.manifest.calls = []
    for number in range(1, systems + 1):
        name = f"site{number}.web"
        made.manifest.servers[f"{name}.1"] = web.model_copy(update={"tier": name})
        made.blocks.cpu_s[f"{name}.1"] = np.array([0.002 * per_second / systems] * 2)
    return Case(f"{systems}, {users}", {}, levels, [made], None)


def test_what_alike_systems_cost_each_other() -> None:
    cases = [
        consolidated(1, 500, 70, 0.010),
        consolidated(1, 800, 110, 0.011),
        consolidated(2, 500, 140, 0.012),
        consolidated(2, 800, 220, 0.015),
        consolidated(4, 500, 280, 0.020),
        consolidated(4, 800, 440, 0.033),
    ]
    assert value("two systems by load", *cases) == pytest.approx(1.25)
    assert value("four systems response", *cases) == pytest.approx(33)
    assert value("four systems over one", *cases) == pytest.approx(3)
    # 440 requests a second of 2 ms, in four servers of four tiers.
    assert value("four systems cpu", *cases) == pytest.approx(0.88)
    assert words("four systems over one", *cases) == "3.00: 33.0 and 11.0 ms at 800 users"
    assert value("two systems by load", *cases[:3]) is None
    assert value("four systems over one", cases[0], cases[5]) is None
    assert value("four systems cpu", *cases[:4]) is None


def timed(name: str, dnu: float, times_s: list[float]) -> Case:
    """A case with a mean response time for each run of a second, and one in which none ended."""
    made = trial([2.0] * len(times_s) + [0.0], [(0, dnu)])
    made.blocks.time_s[:-1] = 2 * np.array(times_s)
    return Case(name, {}, {}, [made], 1.0)


def test_stability_of_times_is_of_the_runs_in_which_a_request_ended() -> None:
    even = timed("even", 0.0, [1.0, 1.02, 1.0, 1.02, 1.0])
    uneven = [timed(str(d), d, [1.0, 1.0 + d, 1.0, 1.0 + d, 1.0]) for d in (0.1, 0.2, 0.45)]
    assert even.times_s.tolist() == pytest.approx([1.0, 1.02, 1.0, 1.02, 1.0])
    assert value("highest time mmr uniform", even, *uneven) == pytest.approx(1.02)
    assert value("highest time mmr uneven", even, *uneven) == pytest.approx(1.45)
    assert value("times follow dnu", even, *uneven) == pytest.approx(1)
    assert words("uneven times less stable", even, *uneven) == "3 of 3 pairs"
    # Their throughput is the same throughout but for the last second.
    assert value("uneven less stable", even, *uneven) == 0


def job(kernel: str, count: int, vcpus: int, seconds: float) -> Case:
    neighbours = {"count": count} | ({"vcpus": vcpus} if count else {})
    levels = {"load.mix": kernel, "system.neighbours": neighbours}
    return Case(kernel, {}, levels, [trial([5, 5], response_s=seconds)], None)


def test_a_lag_is_where_a_time_lies_between_alone_and_all_shared() -> None:
    """Of four PUs' power, two alone and two shared by four, 5/8 are left; by eight 9/16."""
    perfect = [
        *(job("pipeline", 0, 0, 1.0), job("pipeline", 3, 1, 8 / 5), job("pipeline", 3, 2, 4.0)),
        *(job("pipeline", 7, 1, 16 / 9), job("pipeline", 7, 2, 8.0)),
    ]
    waiting = [
        *(job("data-parallel", 0, 0, 1.0), job("data-parallel", 3, 1, 4.0)),
        *(job("data-parallel", 3, 2, 4.0), job("data-parallel", 7, 1, 7.3)),
        job("data-parallel", 7, 2, 8.0),
    ]
    found = [*perfect, *waiting]
    assert value("pipeline lag", *found) == pytest.approx(0.2)
    assert words("pipeline lag", *found) == "0.20 beside 3, 0.11 beside 7"
    assert value("data-parallel lag", *found) == pytest.approx(0.9)
    assert value("barriers lag", *found) is None
    # Half is missing, or nothing was felt of the neighbours.
    assert value("pipeline lag", perfect[0], perfect[2]) is None
    assert (
        value("pipeline lag", *(job("pipeline", *k, 1.0) for k in ((0, 0), (3, 1), (3, 2)))) is None
    )


def test_the_papers_own_query_has_the_correlation_that_is_stated() -> None:
    dnu = (0, 0, 0, 0.32, 0.53, 0.30, 0.45, 0.17, 0.24)
    adin = (0.0001, 0.0037, 0.0032, 0.0182, 0.136, 0.143, 0.089, 0.172, 0.059)
    # Five runs around 10, two to each side by d, have a variance of d^2.
    cases = [
        timed(str(n), d, [10 - x, 10 + x, 10, 10 - x, 10 + x])
        for n, (d, x) in enumerate(zip(dnu, np.sqrt(10 * np.array(adin)), strict=True))
    ]
    assert value("times follow dnu", *cases) == pytest.approx(0.59, abs=0.005)
    assert words("uneven times less stable", *cases) == "18 of 18 pairs"


def test_cpu_time_that_was_not_measured_is_no_zero() -> None:
    cases = [environment("native", trial([1, 1])), environment("qemu", trial([1, 1], cpu_s=1))]
    assert value("machine cpu", *cases) is None
