"""Trials in blocks of time: what of a trial is in each, and which are drawn together."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from tierlab.analysis.comparing.blocks import BIN, BINS, SHORTEST_S, Blocks, bin_of, blocks
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


def random_requests(seconds: int) -> list[dict[str, Any]]:
    """Of two systems whose pages have the same names, some failed, some on the edges of bins."""
    random = np.random.default_rng(9)
    edges_ns = np.round(SHORTEST_S * BIN ** np.arange(BINS) * 1e9)
    made = []
    for number in range(4_000):
        edge_ns = int(random.choice(edges_ns[edges_ns < 60e9])) + int(random.integers(-1, 2))
        took_ns = edge_ns if number % 2 else int(random.lognormal(15, 3))
        end_ns = int(random.integers(0, seconds * 10**9))
        made.append(
            {
                "request_id": str(number),
                "interaction": str(random.choice(["home", "search"])),
                "system": random.choice([None, "shop", "board"]),
                "intended_ns": end_ns - took_ns,
                "end_ns": end_ns,
                "status": int(random.choice([200, 200, 200, 500])),
                "error": None if number % 11 else "reset",
            }
        )
    return made


def test_requests_are_counted_as_one_by_one(tiny: Tiny) -> None:
    requests = random_requests(130)
    done, failed, time_s = np.zeros(32), np.zeros(32), np.zeros(32)
    times: dict[str, np.ndarray] = {}
    for each in requests:
        block = each["end_ns"] // 4_000_000_000
        if block == 32:
            continue  # what is left over
        system = each["system"]
        page = each["interaction"] if system is None else f"{system}: {each['interaction']}"
        cells = times.setdefault(page, np.zeros((32, BINS)))
        if each["error"] is not None or each["status"] == 500:
            failed[block] += 1
            continue
        took_s = (each["end_ns"] - each["intended_ns"]) / 1e9
        done[block] += 1
        time_s[block] += took_s
        cells[block, bin_of(np.array([took_s]))[0]] += 1

    observed = tiny({"requests": requests}, seconds=130.0)
    assert observed.measured is not None
    cut = blocks(observed.db, observed.measured)

    assert cut.done.tolist() == done.tolist()
    assert cut.failed.tolist() == failed.tolist()
    assert cut.time_s == pytest.approx(time_s)
    assert list(cut.times) == sorted(times)
    for page, cells in times.items():
        assert (cut.times[page] == cells).all(), page


def test_a_long_trial_is_not_held_in_memory(tiny: Tiny) -> None:
    """Each request's page was an object of Python's: two million took 220 MB."""
    observed = tiny({}, seconds=2_000.0)
    observed.db.execute(
        """CREATE OR REPLACE VIEW requests AS SELECT 'page ' || (r % 20) AS interaction,
            r * 1_000_000 - 3_000_000 AS intended_ns, r * 1_000_000 AS end_ns, 200 AS status,
            NULL::VARCHAR AS error, NULL::VARCHAR AS system, NULL::VARCHAR AS protocol
            FROM range(2_000_000) AS t(r)"""
    )
    assert observed.measured is not None
    tracemalloc.start()
    try:
        cut = blocks(observed.db, observed.measured)
        (_, most) = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert cut.done.sum() == cut.done.size * cut.seconds * 1_000
    assert most < 100 << 20


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
