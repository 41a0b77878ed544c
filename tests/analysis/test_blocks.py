"""Trials in blocks of time: what of a trial is in each, and which are drawn together."""

from __future__ import annotations

import numpy as np
import pytest

from tierlab.analysis.comparing.blocks import Blocks, blocks
from tierlab.analysis.comparing.bootstrap import stretches
from tierlab.analysis.observed import Observed
from tierlab.analysis.span import Span

from .conftest import Tiny
from .made_trials import Law


def double_width(trial: Blocks) -> Blocks:
    """The same trial in half as many blocks."""

    def half(values: np.ndarray) -> np.ndarray:
        return values.reshape(values.shape[0] // 2, 2, *values.shape[1:]).sum(axis=1)

    return Blocks(
        seconds=2 * trial.seconds,
        done=half(trial.done),
        failed=half(trial.failed),
        time_s=half(trial.time_s),
        times={name: half(each) for name, each in trial.times.items()},
        cpu_s={name: half(each) for name, each in trial.cpu_s.items()},
        major_faults={name: half(each) for name, each in trial.major_faults.items()},
        driver_s=None if trial.driver_s is None else half(trial.driver_s),
        counted={key: half(each) for key, each in trial.counted.items()},
    )


def test_stretches_are_drawn_at_the_same_times_in_trials_of_unequal_length() -> None:
    random = np.random.default_rng(18)
    short = Law().trial(random)
    longer = double_width(Law().trial(random))

    cut = stretches([short, longer])

    assert (cut.count, cut.seconds) == (15, 4.0)
    assert (cut.starts(short) * short.seconds).tolist() == [4.0 * n for n in range(15)]
    assert (cut.starts(longer) * longer.seconds).tolist() == [4.0 * n for n in range(15)]


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


def test_blocks_of_long_trials_are_as_long_as_those_of_others(made: Observed) -> None:
    """A whole number of 1, 2, 4 ... seconds, whatever is left over."""
    assert made.measured is not None
    start = made.measured.start_ns
    lengths = {}
    for seconds in (7.9, 60.5, 61.2):
        cut = blocks(made.db, Span(start, start + round(seconds * 1e9)))
        lengths[seconds] = (cut.seconds, cut.done.size)

    assert lengths == {7.9: (1.0, 7), 60.5: (1.0, 60), 61.2: (2.0, 30)}
