"""Comparing groups of trials: false claims, true ones, intervals, and what is left out.

Real trials of one system are compared in bench/compare; here they are drawn from a known law.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from made_trials import RATE, Law

from tierlab.analysis.blocks import Blocks, blocks
from tierlab.analysis.compare import Difference, compare
from tierlab.analysis.compare_measures import BY_PAGE, PER_DRIVER
from tierlab.analysis.instability import instability
from tierlab.analysis.observed import Observed
from tierlab.analysis.span import Span

Tiny = Callable[..., Observed]
PAIRS = 100


def differences(first: list[Blocks], second: list[Blocks]) -> dict[str, Difference]:
    (found,) = compare([(first, second)])
    return {each.measure: each for each in found}


def claimed(first: list[Blocks], second: list[Blocks]) -> dict[str, str]:
    found = differences(first, second)
    return {name: each.verdict for name, each in found.items() if each.verdict != "within noise"}


def holds(each: Difference, truth: float) -> bool:
    return each.low is not None and each.high is not None and each.low <= truth <= each.high


def test_alike_trials_are_within_noise_and_a_slowdown_of_10_percent_is_found() -> None:
    random = np.random.default_rng(11)
    law, slower = Law(), Law(slower=1.1)
    alike = [claimed(law.trials(random, 1), law.trials(random, 1)) for _ in range(PAIRS)]
    slowed = [claimed(law.trials(random, 1), slower.trials(random, 1)) for _ in range(PAIRS)]

    assert sum(map(bool, alike)) <= 5
    assert sum(each.get(PER_DRIVER) == "worse" for each in slowed) >= 90


@pytest.mark.parametrize("trials", [1, 3])
def test_an_interval_holds_the_truth_as_often_as_it_says(trials: int) -> None:
    """95 of 100 are meant; fewer than 90 would come by chance once in 80 times."""
    random = np.random.default_rng(12)
    law, slower = Law(between=0.01), Law(slower=1.1, between=0.01)

    found = [
        differences(law.trials(random, trials), slower.trials(random, trials)) for _ in range(PAIRS)
    ]

    truths = {BY_PAGE: 0.1, PER_DRIVER: 0.1, "response time, mean": 0.1, "throughput": 0.0}
    for name, truth in truths.items():
        assert sum(holds(each[name], truth) for each in found) >= 90, name


def test_a_machine_whose_speed_varies_hides_no_slowdown() -> None:
    """The driver, slower in the same trials, tells the machine from the servers."""
    random = np.random.default_rng(14)
    law, slower = Law(machine=0.06), Law(slower=1.1, machine=0.06)

    found = [differences(law.trials(random, 1), slower.trials(random, 1)) for _ in range(40)]

    assert sum(each[PER_DRIVER].verdict == "worse" for each in found) >= 36
    assert sum(each[BY_PAGE].verdict == "worse" for each in found) < 36


def test_a_warm_up_that_both_have_widens_no_interval() -> None:
    random = np.random.default_rng(13)

    def width(warm_up: float) -> float:
        law = Law(warm_up=warm_up)
        found = [differences(law.trials(random, 1), law.trials(random, 1)) for _ in range(10)]
        return float(np.mean([(e[BY_PAGE].high or 0) - (e[BY_PAGE].low or 0) for e in found]))

    assert width(0.3) < 1.1 * width(0.0)


def test_repetitions_that_differ_among_themselves_are_no_difference() -> None:
    """Two against two, and one against five, of trials that differ by 6 %: far more than is
    expected of trials, which only their repetitions can tell.
    """
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
    wrong = 0
    for _ in range(20):
        baseline = law.trials(random, 1)
        found = compare([(baseline, law.trials(random, 1)) for _ in range(5)])
        wrong += any(each.verdict != "within noise" for pair in found for each in pair)

    assert wrong <= 3


def test_requests_that_fail_are_a_difference() -> None:
    random = np.random.default_rng(6)
    first, second = Law().trials(random, 2)
    second.failed[:] = second.done * 0.1

    found = differences([first], [second])["failed requests"]

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
    assert {each.verdict for each in found.values()} == {"within noise"}


def test_repetitions_narrow_the_interval_and_it_holds_the_truth() -> None:
    random = np.random.default_rng(5)

    def interval(count: int) -> tuple[float, float, float]:
        first, second = Law().trials(random, count), Law(slower=1.2).trials(random, count)
        found = differences(first, second)[BY_PAGE]
        return found.low or 0.0, found.change, found.high or 0.0

    one, six = interval(1), interval(6)

    assert six[2] - six[0] < one[2] - one[0]
    assert six[0] < 0.2 < six[2]
    assert six[1] == pytest.approx(0.2, abs=0.03)


def test_fewer_requests_are_a_worse_throughput_and_faster_ones_a_better_time() -> None:
    random = np.random.default_rng(3)

    found = claimed(Law().trials(random, 1), Law(slower=0.7, rate=RATE // 2).trials(random, 1))

    assert found["throughput"] == "worse"
    assert found[BY_PAGE] == "better"
    assert found["db.1: CPU a request"] == "better"


def test_other_pages_are_no_difference() -> None:
    """Twice as many of the slow page moves the mean, but no page is slower."""
    random = np.random.default_rng(9)
    first, second = Law(between=0.0).trials(random, 2)
    second.times["search"][:] *= 2

    assert differences([first], [second])[BY_PAGE].verdict == "within noise"


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


def test_blocks_add_up_to_the_trial(made: Observed) -> None:
    assert made.measured is not None
    cut = blocks(made.db, made.measured)
    width_ns = round(cut.seconds * 1e9)
    end = made.measured.start_ns + cut.done.size * width_ns
    (count, time_s) = made.db.execute(
        "SELECT count(*), sum(end_ns - intended_ns) / 1e9 FROM requests WHERE end_ns >= ? AND"
        " end_ns < ? AND error IS NULL AND status BETWEEN 100 AND 399",
        [made.measured.start_ns, end],
    ).fetchall()[0]

    assert cut.done.sum() == count
    assert cut.time_s.sum() == pytest.approx(time_s)
    assert sum(each.sum() for each in cut.times.values()) == count


def test_a_tick_belongs_to_the_block_that_it_ends_in(tiny: Tiny) -> None:
    row = {"dt_ns": 500_000_000, "subject": "db.1", "major_faults": 2}
    ticks = [row | {"t_ns": n * 500_000_000, "cpu_ns": n * 1_000_000} for n in range(5)]
    observed = tiny({"domain": ticks}, seconds=2.0)

    cut = blocks(observed.db, Span(0, 2_000_000_000))

    assert cut.cpu_s["db.1"].tolist() == [0.003, 0.007]
    assert cut.major_faults["db.1"].tolist() == [4.0, 4.0]


def test_instability_is_that_of_the_equations() -> None:
    found = instability([90.0, 100.0, 110.0])

    assert (found.mean, found.adin) == (100.0, pytest.approx(1.0))
    assert found.mmr == pytest.approx(110 / 90)
    assert instability([5.0]).adin is None
