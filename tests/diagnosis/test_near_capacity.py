"""A run near capacity in which nothing is abnormal says how little is left."""

from __future__ import annotations

import numpy as np
import pytest

from . import made_stall
from .made_stall import START, TICK
from .signatures import diagnosed

TICKS = 600


def made(tmp_path, busy):
    folder = made_stall.make(tmp_path, None)
    rows = made_stall.read(folder, "cpu")
    for row in rows:
        row["busy"] = float(busy[(row["t_ns"] - START) // TICK % busy.size])
    made_stall.write(folder, "cpu", rows)
    return diagnosed(folder)


def test_cpus_that_are_full_by_chance_for_a_tenth_of_the_time_are_told_of(tmp_path):
    """Ten undisturbed minutes at 81 % busy said "nothing abnormal" and no more."""
    busy = np.full(TICKS, 0.78)
    busy[::10] = 1.0
    found = made(tmp_path, busy)
    assert found.verdict == "nothing abnormal"
    assert found.words.startswith("Nothing abnormal")
    assert "the CPUs were 80% busy, and all of them full for 10% of the time" in found.words


@pytest.mark.parametrize("busy", [0.2, 0.9])
def test_cpus_that_are_never_full_are_not(tmp_path, busy):
    assert made(tmp_path, np.full(TICKS, busy)).words.endswith("longer than they usually take.")


def test_cpus_with_time_left_that_something_fills_now_and_then_are_not(tmp_path):
    """A job that delays nobody fills them for a tenth of the time: there is time left."""
    busy = np.full(TICKS, 0.2)
    busy[::10] = 1.0
    assert made(tmp_path, busy).words.endswith("longer than they usually take.")


def test_of_cpus_that_were_not_sampled_nothing_is_said(tmp_path):
    folder = made_stall.make(tmp_path, None)
    made_stall.write(folder, "cpu", [])
    assert diagnosed(folder).words.endswith("longer than they usually take.")
