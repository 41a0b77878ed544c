"""Smoothing beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d, uniform_filter1d

from tierlab.analysis.statistics.smoothing import REACH, normal_kernel, running_mean

COUNTS = np.random.default_rng(1).poisson(5, 400).astype(np.float64)


@pytest.mark.parametrize("size", [1, 2, 7, 40, 400])
def test_a_running_mean_is_scipys(size: int) -> None:
    theirs = uniform_filter1d(COUNTS, size, mode="nearest")
    assert running_mean(COUNTS, size) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("deviation", [1.0, 2.5, 100.0])
def test_a_normal_kernel_is_scipys(deviation: float) -> None:
    theirs = gaussian_filter1d(COUNTS, deviation, mode="constant", truncate=REACH)
    assert normal_kernel(COUNTS, deviation) == pytest.approx(theirs, rel=1e-12)
