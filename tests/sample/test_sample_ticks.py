"""Ticks are on a grid of absolute times: they do not drift, and what comes late is told."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from tests.figures import figure

from .conftest import INTERVAL, MILLISECOND, Sampling, Start

TEN_MS = 10 * MILLISECOND


TICKS = 250
"""In two and a half seconds; one that slept for its interval after its work of some 50 us would be
late by 10 ms at their end."""


def two_and_a_half_seconds(start: Start) -> tuple[Sampling, str]:
    sampling = start(interval_ns=TEN_MS, duration_ns=TICKS * TEN_MS, tables=["memory"])
    said, errors = sampling.process.communicate(timeout=30)
    assert sampling.process.returncode == 0, errors
    return sampling, said.splitlines()[-1]


def in_time_to_the_end(sampling: Sampling) -> bool:
    """Tick k is at k * 10 ms of the epoch: whatever is beyond that is lateness, which ends with the
    tick, and never a drift, which stays."""
    late = sampling.table("memory").t_ns % TEN_MS
    drift = late[-50:].median() - late[:50].median()
    figure(f"late by {late.median() / MILLISECOND:.3f} ms in the median, drift {drift:.0f} ns")
    return abs(drift) < 0.5 * MILLISECOND and late.median() < 2 * MILLISECOND


@pytest.mark.slow
@pytest.mark.alone
def test_ten_milliseconds_do_not_drift(start: Start) -> None:
    sampling, summary = two_and_a_half_seconds(start)
    assert in_time_to_the_end(sampling)
    memory = sampling.table("memory")
    # Each tick is there once or is told as missed; intervals leave no gap and do not overlap.
    ticks = memory.t_ns.to_numpy() // TEN_MS
    assert (np.diff(ticks) >= 1).all()
    missed = (np.diff(ticks) - 1).sum()
    assert len(memory) + missed == pytest.approx(TICKS, abs=2)
    assert f'"missed_ticks":{missed}' in summary
    covered = memory.t_ns.iloc[-1] - (memory.t_ns.iloc[0] - memory.dt_ns.iloc[0])
    assert memory.dt_ns.sum() == pytest.approx(covered, abs=5 * MILLISECOND)


@pytest.mark.alone
def test_rows_of_all_tables_line_up_with_the_epoch(start: Start) -> None:
    sampling = start()
    sampling.ticks(12)
    sampling.stop()
    for name in ("cpu", "memory", "net", "tcp"):
        late = sampling.table(name).t_ns % INTERVAL
        assert late.median() < 10 * MILLISECOND, name


@pytest.mark.alone
def test_a_late_tick_is_an_event_and_its_row_has_the_measured_interval(start: Start) -> None:
    sampling = start(tables=["memory"])
    time.sleep(0.3)
    os.kill(sampling.process.pid, signal.SIGSTOP)
    time.sleep(0.42)
    os.kill(sampling.process.pid, signal.SIGCONT)
    time.sleep(0.3)
    summary = sampling.stop()
    events = sampling.events
    late = events[events.kind == "late_tick"]
    assert late.duration_ns.max() > 50 * MILLISECOND
    assert summary["late_ticks"] == len(late)
    memory = sampling.table("memory")
    longest = memory.dt_ns.argmax()
    assert memory.dt_ns.iloc[longest] > 350 * MILLISECOND
    # It was late once; the ticks after it are on the grid again.
    assert (memory.t_ns.iloc[longest + 1 :] % INTERVAL).median() < 10 * MILLISECOND


@pytest.mark.parametrize("interval_ms", [pytest.param(10, marks=pytest.mark.alone), 1000])
def test_every_interval_has_its_rows(start: Start, interval_ms: int) -> None:
    interval = interval_ms * MILLISECOND
    began = time.monotonic_ns()
    sampling = start(interval_ns=interval, tables=["memory", "cpu"])
    ready = time.monotonic_ns()
    time.sleep(max(0.6, 2.2 * interval_ms / 1000))
    asked = time.monotonic_ns()
    summary = sampling.stop()
    ended = time.monotonic_ns()
    ticks = summary["ticks"] + summary["missed_ticks"]
    assert (asked - ready) // interval - 2 <= ticks <= (ended - began) // interval + 2
    assert len(sampling.table("memory")) == summary["ticks"]
    assert sampling.table("memory").dt_ns.iloc[1:].median() == pytest.approx(interval, rel=0.1)
