"""Comparing groups of trials: false claims, true ones, intervals, and what is left out.

Real trials of one system are compared in bench/compare; here they are drawn from a known law.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tierlab.analysis.comparing.blocks import Blocks
from tierlab.analysis.comparing.compare import Difference, compare
from tierlab.analysis.comparing.compare_measures import BY_PAGE, PER_DRIVER
from tierlab.analysis.comparing.instability import instability

from .made_trials import RATE, Law

PAIRS = 100


def differences(
    first: list[Blocks], second: list[Blocks], *beside: list[Blocks]
) -> dict[str, Difference]:
    (found,) = compare([(first, second)], beside=beside)
    return {each.measure: each for each in found}


def claimed(first: list[Blocks], second: list[Blocks], *beside: list[Blocks]) -> dict[str, str]:
    found = differences(first, second, *beside)
    return {
        name: each.verdict for name, each in found.items() if each.verdict in {"better", "worse"}
    }


def holds(each: Difference, truth: float) -> bool:
    return each.low is not None and each.high is not None and each.low <= truth <= each.high


def test_alike_trials_are_within_noise_and_a_slowdown_of_10_percent_is_found() -> None:
    random = np.random.default_rng(11)
    law, slower = Law(), Law(slower=1.1)
    beside = [each.summed() for each in law.trials(random, 10)]
    alike = [claimed(law.trials(random, 1), law.trials(random, 1), beside) for _ in range(PAIRS)]
    slowed = [
        claimed(law.trials(random, 1), slower.trials(random, 1), beside) for _ in range(PAIRS)
    ]

    assert sum(map(bool, alike)) <= 5
    assert sum(each.get(PER_DRIVER) == "worse" for each in slowed) >= 90


def test_an_interval_of_alike_trials_holds_zero_in_95_of_100() -> None:
    """240 pairs from sixty machines' trials; how much these differ is not known beforehand. What
    knows it from elsewhere, or from within a trial, fails. bench/compare has real trials.
    """
    random = np.random.default_rng(12)
    held: dict[str, list[bool]] = {BY_PAGE: [], PER_DRIVER: [], "throughput": []}
    law = Law(between=0.02, machine=0.03)
    for _ in range(60):
        trials = [each.summed() for each in law.trials(random, 10)]
        for one in range(0, 8, 2):
            other = one + 1
            beside = [each for at, each in enumerate(trials) if at not in {one, other}]
            found = differences([trials[one]], [trials[other]], beside)
            for name, each in held.items():
                each.append(holds(found[name], 0.0))

    for name, each in held.items():
        assert 0.92 <= np.mean(each) <= 0.98, name


def test_intervals_and_claims_are_those_of_students_test() -> None:
    """Without others beside them, two groups are compared as SciPy does."""
    random = np.random.default_rng(15)
    first, second = Law().trials(random, 4), Law(slower=1.05).trials(random, 3)

    found = compare([(first, second)])[0]

    logs = [
        np.log([each.done.sum() / (each.done.size * each.seconds) for each in group])
        for group in (first, second)
    ]
    expected = stats.ttest_ind(logs[1], logs[0])
    interval = expected.confidence_interval(0.95)
    throughput = next(each for each in found if each.measure == "throughput")
    assert throughput.low == pytest.approx(np.expm1(interval.low))
    assert throughput.high == pytest.approx(np.expm1(interval.high))
    assert throughput.freedom == expected.df == 5


def test_without_repetitions_or_others_nothing_is_known() -> None:
    random = np.random.default_rng(16)
    first, second = Law().trials(random, 1), Law(slower=3.0).trials(random, 1)

    found = differences(first, second)

    assert {each.verdict for each in found.values()} == {"not known"}
    assert {(each.low, each.repetitions) for each in found.values()} == {(None, None)}


def test_as_many_repetitions_as_are_said_to_do_tell_the_least_difference() -> None:
    random = np.random.default_rng(17)
    law = Law(between=0.04)
    few = differences(law.trials(random, 3), law.trials(random, 3))[PER_DRIVER]
    assert few.repetitions is not None
    assert few.repetitions > 3

    many = [
        differences(law.trials(random, few.repetitions), law.trials(random, few.repetitions))
        for _ in range(5)
    ]

    reach = [((each[PER_DRIVER].high or 9) - (each[PER_DRIVER].low or -9)) / 2 for each in many]
    assert np.median(reach) == pytest.approx(0.05, rel=0.4)


def test_a_machine_whose_speed_varies_hides_no_slowdown() -> None:
    """The driver, slower in the same trials, tells the machine from the servers."""
    random = np.random.default_rng(14)
    law, slower = Law(machine=0.06), Law(slower=1.1, machine=0.06)
    beside = law.trials(random, 10)

    found = [
        differences(law.trials(random, 1), slower.trials(random, 1), beside) for _ in range(40)
    ]

    assert sum(each[PER_DRIVER].verdict == "worse" for each in found) >= 36
    assert sum(each[BY_PAGE].verdict == "worse" for each in found) < 36


def test_a_warm_up_that_both_have_widens_no_interval() -> None:
    random = np.random.default_rng(13)

    def width(warm_up: float) -> float:
        trials = Law(warm_up=warm_up).trials(random, 24)
        each = differences(trials[:12], trials[12:])[BY_PAGE]
        return (each.high or 0) - (each.low or 0)

    assert width(0.3) < 1.5 * width(0.0)


def test_repetitions_that_differ_among_themselves_are_no_difference() -> None:
    """Two against two, and one against five, of trials that differ by 6 %."""
    random = np.random.default_rng(21)
    law = Law(between=0.06)

    two = [claimed(law.trials(random, 2), law.trials(random, 2)) for _ in range(20)]
    lone = [claimed(law.trials(random, 1), law.trials(random, 5)) for _ in range(20)]

    assert sum(map(bool, two)) <= 4
    assert sum(map(bool, lone)) <= 4


def test_many_pairs_together_are_as_seldom_wrong_as_one() -> None:
    """A baseline against five levels that do nothing."""
    random = np.random.default_rng(22)
    law = Law()
    beside = law.trials(random, 10)
    wrong = 0
    for _ in range(20):
        baseline = law.trials(random, 1)
        pairs = [(baseline, law.trials(random, 1)) for _ in range(5)]
        found = compare(pairs, beside=[beside])
        wrong += any(each.verdict in {"better", "worse"} for pair in found for each in pair)

    assert wrong <= 3


def test_requests_that_fail_are_a_difference() -> None:
    random = np.random.default_rng(6)
    first, other, second = Law().trials(random, 3)
    second.failed[:] = second.done * 0.1

    found = differences([first, other], [second])["failed requests"]

    assert (found.absolute, found.verdict) == (True, "worse")
    assert found.change == pytest.approx(0.1 / 1.1)


def test_faults_that_are_rare_are_not_compared() -> None:
    random = np.random.default_rng(8)
    first, second = Law().trials(random, 2)
    second.major_faults["db.1"][:] = 0

    assert all("faults" not in name for name in differences([first], [second]))


def test_a_figure_that_only_some_draws_have_is_never_claimed() -> None:
    """All requests in one of sixty blocks: many draws of the blocks have none."""
    random = np.random.default_rng(10)
    first, second = Law().trial(random), Law(slower=2.0).trial(random)
    for each in (first, second):
        for array in (each.done, each.time_s, *each.times.values(), *each.cpu_s.values()):
            array[1:] = 0

    found = differences([first], [second])

    assert found["response time, mean"].low is None
    assert {each.verdict for each in found.values()} == {"not known"}


def test_repetitions_narrow_the_interval_and_it_holds_the_truth() -> None:
    random = np.random.default_rng(5)

    beside = Law().trials(random, 6)

    def interval(count: int) -> tuple[float, float, float]:
        first, second = Law().trials(random, count), Law(slower=1.2).trials(random, count)
        found = differences(first, second, beside)[BY_PAGE]
        return found.low or 0.0, found.change, found.high or 0.0

    one, six = interval(1), interval(6)

    assert six[2] - six[0] < one[2] - one[0]
    assert six[0] < 0.2 < six[2]
    assert six[1] == pytest.approx(0.2, abs=0.03)


def test_fewer_requests_are_a_worse_throughput_and_faster_ones_a_better_time() -> None:
    random = np.random.default_rng(3)

    beside = Law().trials(random, 6)

    faster = Law(slower=0.7, rate=RATE // 2).trials(random, 1)
    found = claimed(Law().trials(random, 1), faster, beside)

    assert found["throughput"] == "worse"
    assert found[BY_PAGE] == "better"
    assert found["db.1: CPU a request"] == "better"


def test_other_pages_are_no_difference() -> None:
    """Twice as many of the slow page moves the mean, but no page is slower."""
    random = np.random.default_rng(9)
    first, second, *beside = Law(between=0.0).trials(random, 8)
    second.times["search"][:] *= 2

    assert differences([first], [second], beside)[BY_PAGE].verdict == "within noise"


def test_a_difference_smaller_than_the_least_is_not_claimed_however_sure() -> None:
    random = np.random.default_rng(2)
    first, second = Law().trials(random, 8), Law(slower=1.2).trials(random, 8)

    (loose,), (strict,) = (compare([(first, second)], least) for least in (0.05, 0.3))
    by_page = next(each for each in loose if each.measure == BY_PAGE)

    assert by_page.verdict == "worse"
    assert {each.verdict for each in strict} == {"within noise"}


def test_what_one_group_did_not_measure_is_left_out() -> None:
    random = np.random.default_rng(4)
    first, second = Law().trials(random, 2)
    second.cpu_s.clear()

    assert all("CPU a request" not in name for name in differences([first], [second]))


def test_instability_is_that_of_the_equations() -> None:
    found = instability([90.0, 100.0, 110.0])

    assert (found.mean, found.adin) == (100.0, pytest.approx(1.0))
    assert found.mmr == pytest.approx(110 / 90)
    assert instability([5.0]).adin is None
