"""Trials made in turns: who is whose neighbour, and whether pairs tell the truth under a drift."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tierlab.analysis.comparing.compare import compare
from tierlab.analysis.comparing.repeated import (
    INTERVAL,
    Repeated,
    differences,
    independent,
    paired,
)
from tierlab.analysis.comparing.turns import alike_pairs, in_turns

from .made_trials import Law

TRIAL_NS = 40_000_000_000
SEQUENCES = 600
CARRIED = 2 / 3
"""Of a trial's pace, what the next one has too."""
SPREAD = 0.06


def starts(order: str, group: str) -> list[int]:
    """When the trials of a group began, made one after the other in an order such as ABBA."""
    return [at * TRIAL_NS for at, each in enumerate(order) if each == group]


@pytest.mark.parametrize(
    ("order", "pairs"),
    [
        ("ABAB", [(0, 0), (1, 1)]),
        ("ABABAB", [(0, 0), (1, 1), (2, 2)]),
        ("BAABBA", [(0, 0), (1, 1), (2, 2)]),
        ("ABCBCACAB", [(0, 0), (1, 1), (2, 2)]),  # of three combinations, two
        ("ABABABAABAB", [(0, 0), (1, 1), (2, 2), (4, 3), (5, 4)]),  # the fourth of B failed
    ],
)
def test_neighbours_of_groups_made_in_turns(order: str, pairs: list[tuple[int, int]]) -> None:
    turns = in_turns(starts(order, "A"), starts(order, "B"))

    assert turns is not None
    assert list(turns.pairs) == pairs


@pytest.mark.parametrize("order", ["AAABBB", "AABB", "AB" + "A" * 5, "AABABB", "AB", "A"])
def test_groups_made_one_after_the_other_have_no_neighbours(order: str) -> None:
    assert in_turns(starts(order, "A"), starts(order, "B")) is None


def test_times_that_are_not_known_or_the_same_tell_no_order() -> None:
    assert in_turns([0, None], [1, 3]) is None
    assert in_turns([0, 5], [0, 5]) is None


def test_alike_trials_are_paired_as_far_apart_as_the_others() -> None:
    made = [at * TRIAL_NS for at in range(7)]

    assert alike_pairs(made, TRIAL_NS) == [(0, 1), (2, 3), (4, 5)]
    assert alike_pairs(made, 3 * TRIAL_NS) == [(0, 3), (1, 4), (2, 5)]
    assert alike_pairs([0, 9 * TRIAL_NS], TRIAL_NS) == []


def test_neighbours_are_compared_as_by_students_test_of_pairs() -> None:
    """SciPy's is the oracle; the trials beside were made on another day."""
    random = np.random.default_rng(31)
    groups = [
        [
            replace(each, start_ns=(2 * at + which) * TRIAL_NS)
            for at, each in enumerate(Law(slower=1 + which / 20).trials(random, 5))
        ]
        for which in (0, 1)
    ]
    beside = [
        replace(each, start_ns=at * 10**15) for at, each in enumerate(Law().trials(random, 3))
    ]

    (found,) = compare([(groups[0], groups[1])], beside=[beside])

    logs = [np.log([each.done.sum() / each.seconds_in_all for each in group]) for group in groups]
    expected = stats.ttest_rel(logs[1], logs[0])
    interval = expected.confidence_interval(0.95)
    throughput = next(each for each in found if each.measure == "throughput")
    assert throughput.low == pytest.approx(np.expm1(interval.low))
    assert throughput.high == pytest.approx(np.expm1(interval.high))
    assert (throughput.pairs, throughput.freedom) == (5, expected.df)


def test_too_few_pairs_are_compared_as_independent_groups() -> None:
    """Three of each, with none beside: two degrees of freedom in pairs, four without."""
    random = np.random.default_rng(32)
    first, second = (
        [
            replace(each, start_ns=(2 * at + which) * TRIAL_NS)
            for at, each in enumerate(Law().trials(random, 3))
        ]
        for which in (0, 1)
    )

    (found,) = compare([(first, second)])

    assert {(each.pairs, each.freedom) for each in found} == {(None, 4)}


def drifting(random: np.random.Generator, count: int, carried: float = CARRIED) -> np.ndarray:
    """Figures of alike trials, made one after the other on a machine whose pace drifts."""
    figures = [random.normal(0, SPREAD)]
    for _ in range(count - 1):
        news = random.normal(0, SPREAD * (1 - carried**2) ** 0.5)
        figures.append(carried * figures[-1] + news)
    return np.array(figures)


def known(figures: np.ndarray, order: str) -> tuple[float, Repeated, Repeated]:
    """The difference of B to A, and how well it is known: of neighbours, and as independent. The
    other trials are beside.
    """
    places = {group: [at for at, each in enumerate(order) if each == group] for group in "AB"}
    others = [at for at in range(figures.size) if at >= len(order)]
    turns = in_turns(starts(order, "A"), starts(order, "B"))
    assert turns is not None
    first, second, beside = (figures[each] for each in (places["A"], places["B"], others))
    near = alike_pairs([at * TRIAL_NS for at in others], turns.apart_ns)
    of_neighbours = paired(*turns.of(first, second), differences([beside], [near]), 0.0)
    assert of_neighbours is not None
    shift = float(second.mean() - first.mean())
    return shift, of_neighbours, independent(first, second, [beside], 0.0)


def orders(random: np.random.Generator, size: int) -> list[str]:
    return [
        "".join(random.permutation(["AB", "BA"])[0] for _ in range(size)) for _ in range(SEQUENCES)
    ]


@pytest.mark.parametrize("carried", [0.0, CARRIED])
@pytest.mark.parametrize(("size", "beside"), [(2, 20), (3, 20), (5, 20), (5, 0)])
def test_intervals_of_neighbours_hold_the_truth_in_95_of_100(
    carried: float, size: int, beside: int
) -> None:
    """Whether the machine drifts or not, who of two goes first being drawn."""
    random = np.random.default_rng(33)
    held = []
    for order in orders(random, size):
        shift, neighbours, _ = known(drifting(random, 2 * size + beside, carried), order)
        held.append(abs(shift) <= reach(neighbours))

    assert 0.93 <= np.mean(held) <= 0.97


def test_on_a_machine_that_drifts_neighbours_find_what_independent_groups_do_not() -> None:
    """Of 8 %, five trials a side."""
    random = np.random.default_rng(34)
    found, found_independent = [], []
    for order in orders(random, 5):
        shift, neighbours, alone = known(drifting(random, 30), order)
        found.append(shift + 0.08 > reach(neighbours))
        found_independent.append(shift + 0.08 > reach(alone))

    assert np.mean(found) > 0.9
    assert np.mean(found_independent) < 0.75


def test_more_pairs_narrow_what_is_known_as_they_are_said_to() -> None:
    random = np.random.default_rng(35)
    _, few, _ = known(drifting(random, 10), "ABBAABABBA")
    wanted = few.enough(0.03)
    assert wanted is not None
    assert wanted > 5

    reaches = [reach(known(drifting(random, 2 * wanted), "AB" * wanted)[1]) for _ in range(50)]

    assert np.median(reaches) == pytest.approx(0.03, rel=0.4)


def reach(known_: Repeated) -> float:
    of_difference = known_.of_difference
    assert of_difference is not None
    return of_difference.reach(INTERVAL)
