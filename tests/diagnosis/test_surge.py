"""A surge is told from how independent users scatter, at few users and near capacity."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tierlab.diagnosis.causes.overload import UP_TO_FULL_NS
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.surge import surge
from tierlab.diagnosis.thresholds import THRESHOLDS

S = 1_000_000_000
MS = 1_000_000


def told(came_ns, per_s, at_ns, *before_ns):
    """What is said of a stall that begins at that time, of users that come at that rate."""
    came_ns = np.sort(came_ns)

    def arriving(window):
        return int(np.diff(np.searchsorted(came_ns, [window.start_ns, window.end_ns]))[0])

    window = Window(start_ns=at_ns, end_ns=at_ns + 200 * MS)
    return surge(
        SimpleNamespace(window=window, arriving=arriving, usual_arrivals=per_s), *before_ns
    )


def independent(per_s, seconds=20):
    return np.random.default_rng(7).uniform(0, seconds * S, per_s * seconds)


@pytest.mark.parametrize("per_s", [10, 100, 1000])
def test_independent_users_are_no_surge(per_s):
    came = independent(per_s)
    figures = [told(came, per_s, at) for at in range(S, 19 * S, 90 * MS)]
    assert max(figures) < THRESHOLDS["surge"].low


def test_a_short_surge_near_capacity_is_one():
    """117 ms of 120 more users, most of them at once, were called an overload: of 150 ms they were
    but 1.6 times the usual.
    """
    at_once = np.linspace(10 * S - 90 * MS, 10 * S - 45 * MS, 150)
    found = told(np.concatenate([independent(850), at_once]), 850, 10 * S)
    assert THRESHOLDS["surge"].support(found) > 0.25


def test_an_overload_is_told_from_who_came_all_at_once_before_the_cpus_were_full():
    """With no surge in the catalogue one of 1.6 s was an overload: 350 ms had gone by when the CPUs
    were full.
    """
    at_once = np.linspace(9.2 * S, 9.5 * S, 1200)
    came = np.concatenate([independent(850), at_once])
    assert told(came, 850, 10 * S) < THRESHOLDS["surge"].low
    assert told(came, 850, 10 * S, UP_TO_FULL_NS) > THRESHOLDS["surge"].high
