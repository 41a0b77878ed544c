"""Associations with known causes, chance, and corrections against tables by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.ndimage import uniform_filter1d

from tierlab.analysis.query import Floats
from tierlab.analysis.statistics.association import LEVEL, associations, indicator
from tierlab.analysis.statistics.holm import holm

WINDOWS = 1_200


def noise(dice: np.random.Generator, width: int) -> Floats:
    return uniform_filter1d(dice.normal(0, 1, WINDOWS), width, mode="wrap")


def bursts(at: list[int], length: int, strength: float, dice: np.random.Generator) -> Floats:
    series = dice.gamma(1, 1, WINDOWS)
    for start in at:
        series[start : start + length] += strength
    return series


def test_the_cause_is_found_with_its_lag_among_many() -> None:
    at = [130, 480, 700, 1_011]
    effect = indicator([(50 * (n + 2), 50 * (n + 8)) for n in at], np.arange(0, 60_001, 50))
    others = 0
    for seed in range(2):
        dice = np.random.default_rng(seed)
        causes = {f"other {n}": noise(dice, 1 + n % 20) for n in range(24)}
        causes["db.1 major faults"] = bursts(at, 6, 30, dice)
        found = associations(causes, effect)
        (mine,) = [each for each in found if each.cause == "db.1 major faults"]
        assert mine.lag_s == pytest.approx(0.1)
        assert mine.correlation > 0.8
        assert mine.p_holm < 0.05
        assert mine.correlation == max(each.correlation for each in found)
        others += sum(each.p_holm < 0.05 for each in found) - 1
    assert others <= 1, "of 48 that have nothing to do with it"


@pytest.mark.parametrize("count", [150, 400])
def test_one_cause_among_hundreds_is_told(count: int) -> None:
    """A machine of 64 CPUs has two figures of each: 2,000 shuffles were too few to tell one."""
    at = [130, 480, 700, 1_011]
    effect = indicator([(50 * (n + 2), 50 * (n + 8)) for n in at], np.arange(0, 60_001, 50))
    dice = np.random.default_rng(5)
    causes = {f"other {n}": noise(dice, 1 + n % 20) for n in range(count)}
    causes["db.1 major faults"] = bursts(at, 6, 30, dice)
    first, *others = associations(causes, effect)
    assert first.cause == "db.1 major faults"
    assert first.p_fdr <= LEVEL
    assert first.p_holm <= LEVEL
    assert sum(each.p_fdr <= LEVEL for each in others) <= 1


def test_chance_is_as_frequent_as_it_says() -> None:
    """Series that depend on their own past, without anything to do with the windows."""
    dice = np.random.default_rng(2)
    effect = (noise(dice, 8) > 0.6).astype(float)
    found = associations({str(n): noise(dice, 1 + n % 25) for n in range(200)}, effect)
    p_values = [each.p for each in found]
    assert np.mean(np.array(p_values) < 0.05) <= 0.10
    assert stats.kstest(p_values, "uniform").statistic < 0.2
    assert min(each.p_fdr for each in found) > 0.05


def test_what_comes_after_is_no_cause() -> None:
    dice = np.random.default_rng(3)
    at = [130, 480, 700, 1_011]
    effect = indicator([(50 * n, 50 * (n + 6)) for n in at], np.arange(0, 60_001, 50))
    after = bursts([n + 12 for n in at], 6, 30, dice)
    (found,) = associations({"reply": after}, effect)
    assert found.p > 0.05


def test_what_never_changed_and_what_is_missing() -> None:
    dice = np.random.default_rng(4)
    effect = noise(dice, 5)
    assert associations({"still": np.ones(WINDOWS), "none": np.full(WINDOWS, np.nan)}, effect) == []
    assert associations({"x": noise(dice, 5)}, np.zeros(WINDOWS)) == []
    assert associations({"short": np.ones(3)}, effect) == []
    assert associations({}, effect) == []
    holes = np.where(np.arange(WINDOWS) % 10 == 0, np.nan, effect)
    (found,) = associations({"itself": holes}, effect)
    assert found.lag_s == 0
    assert found.p < 0.01


def test_the_indicator_is_the_part_that_is_covered() -> None:
    edges = np.array([0, 50, 100, 150])
    assert indicator([(25, 60), (90, 100)], edges).tolist() == [0.5, 0.4, 0.0]
    assert indicator([], edges).tolist() == [0, 0, 0]


def test_holms_correction_is_that_of_its_definition() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.02, 0.01], [1, 3]) == pytest.approx([0.02, 0.04 / 3])
    assert holm([]) == []
