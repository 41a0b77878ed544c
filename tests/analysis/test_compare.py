"""Comparing groups of trials: false claims, true ones, intervals, and what is left out.

Real trials of one system are compared in bench/compare; here they are drawn from a known law.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tierlab.analysis.blocks import BINS, Blocks, bin_of, blocks
from tierlab.analysis.compare import compare
from tierlab.analysis.instability import instability
from tierlab.analysis.observed import Observed
from tierlab.analysis.span import Span

Tiny = Callable[..., Observed]
SECONDS = 60
RATE = 40
MEDIANS_S = {"home": 0.004, "story": 0.008, "search": 0.030}


def trial(
    random: np.random.Generator, slower: float = 1.0, rate: int = RATE, spread: float = 0.01
) -> Blocks:
    """A trial whose speed wanders from block to block, and differs from other trials' by `spread`
    (a standard deviation).
    """
    speed = slower * np.exp(random.normal(0, spread))
    wander = np.zeros(SECONDS)
    for index in range(1, SECONDS):
        wander[index] = 0.8 * wander[index - 1] + random.normal(0, 0.02)
    times = {name: np.zeros((SECONDS, BINS)) for name in MEDIANS_S}
    done, time_s = np.zeros(SECONDS), np.zeros(SECONDS)
    for block in range(SECONDS):
        for name, median_s in MEDIANS_S.items():
            count = random.poisson(rate)
            took = median_s * speed * np.exp(wander[block] + random.normal(0, 0.5, count))
            np.add.at(times[name][block], bin_of(took), 1)
            done[block] += count
            time_s[block] += took.sum()
    cpu_s = {"db.1": done * 0.002 * speed * np.exp(random.normal(0, 0.05, SECONDS))}
    faults = {"db.1": random.poisson(3, SECONDS).astype(float)}
    return Blocks(1.0, done, np.zeros(SECONDS), time_s, times, cpu_s, faults)


def claimed(first: list[Blocks], second: list[Blocks]) -> dict[str, str]:
    return {
        each.measure: each.verdict
        for each in compare(first, second)
        if each.verdict != "within noise"
    }


def test_trials_of_one_system_are_within_noise_and_a_slowdown_of_10_percent_is_found() -> None:
    random = np.random.default_rng(11)
    alike = [claimed([trial(random)], [trial(random)]) for _ in range(40)]
    slowed = [claimed([trial(random)], [trial(random, slower=1.1)]) for _ in range(40)]

    assert sum(map(bool, alike)) <= 3
    assert sum(each.get("response time, by page") == "worse" for each in slowed) >= 36


def test_repetitions_that_differ_among_themselves_are_no_difference() -> None:
    """Two against two, and one against five, of trials that differ by 6 %."""
    random = np.random.default_rng(21)

    def group(count: int) -> list[Blocks]:
        return [trial(random, spread=0.06) for _ in range(count)]

    two = [claimed(group(2), group(2)) for _ in range(6)]
    lone = [claimed(group(1), group(5)) for _ in range(6)]

    assert sum(map(bool, two)) <= 1
    assert sum(map(bool, lone)) <= 1


def test_requests_that_fail_are_a_difference() -> None:
    random = np.random.default_rng(6)
    first, second = trial(random), trial(random)
    second.failed[:] = second.done * 0.1

    found = {each.measure: each for each in compare([first], [second])}["failed requests"]

    assert (found.absolute, found.verdict) == (True, "worse")
    assert found.change == pytest.approx(0.1 / 1.1)


def test_faults_that_are_rare_are_not_compared() -> None:
    random = np.random.default_rng(8)
    first, second = trial(random), trial(random)
    second.major_faults["db.1"][:] = 0

    assert all("faults" not in each.measure for each in compare([first], [second]))


def test_a_figure_that_only_some_draws_have_is_never_claimed() -> None:
    """All requests in one of sixty blocks: many draws of the blocks have none."""
    random = np.random.default_rng(10)
    first, second = trial(random), trial(random, slower=2.0)
    for each in (first, second):
        for array in (each.done, each.time_s, *each.times.values(), *each.cpu_s.values()):
            array[1:] = 0

    found = {each.measure: each for each in compare([first], [second])}

    assert found["response time, mean"].low is None
    assert {each.verdict for each in found.values()} == {"within noise"}


def test_repetitions_narrow_the_interval_and_it_holds_the_truth() -> None:
    random = np.random.default_rng(5)

    def median(count: int) -> tuple[float, float, float]:
        first = [trial(random) for _ in range(count)]
        second = [trial(random, slower=1.2) for _ in range(count)]
        (found,) = (each for each in compare(first, second) if each.measure.endswith("by page"))
        return found.low or 0.0, found.change, found.high or 0.0

    one, six = median(1), median(6)

    assert six[2] - six[0] < one[2] - one[0]
    assert six[0] < 0.2 < six[2]
    assert six[1] == pytest.approx(0.2, abs=0.03)


def test_fewer_requests_are_a_worse_throughput_and_faster_ones_a_better_time() -> None:
    random = np.random.default_rng(3)

    found = claimed([trial(random)], [trial(random, slower=0.7, rate=RATE // 2)])

    assert found["throughput"] == "worse"
    assert found["response time, by page"] == "better"
    assert found["db.1: CPU a request"] == "better"


def test_other_pages_are_no_difference() -> None:
    """Twice as many of the slow page moves the mean, but no page is slower."""
    random = np.random.default_rng(9)
    first, second = trial(random), trial(random)
    second.times["search"][:] *= 2

    by_page = next(e for e in compare([first], [second]) if e.measure.endswith("by page"))

    assert by_page.verdict == "within noise"


def test_a_difference_smaller_than_the_least_is_not_claimed_however_sure() -> None:
    random = np.random.default_rng(2)
    first = [trial(random) for _ in range(8)]
    second = [trial(random, slower=1.2) for _ in range(8)]

    (loose,) = (e for e in compare(first, second) if e.measure.endswith("by page"))
    strict = [e.verdict for e in compare(first, second, least=0.3)]

    assert loose.verdict == "worse"
    assert set(strict) == {"within noise"}


def test_what_one_group_did_not_measure_is_left_out() -> None:
    random = np.random.default_rng(4)
    first, second = trial(random), trial(random)
    second.cpu_s.clear()

    assert all("CPU" not in each.measure for each in compare([first], [second]))


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
