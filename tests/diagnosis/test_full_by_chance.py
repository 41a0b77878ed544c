"""CPUs that are full for a moment: by chance near capacity, and by something at a low load."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from tierlab.analysis.query import Floats
from tierlab.analysis.span import WINDOW_NS, Span
from tierlab.analysis.statistics.stretches import stretches
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.full_by_chance import (
    LONGEST_NS,
    QUARTILE,
    RARE,
    beyond,
    chance_ns,
    full_by_chance,
)
from tierlab.diagnosis.signals import Signal

from . import made_stall
from .made_stall import MS, START, TICK
from .signatures import diagnosed
from .test_cpu_family import SIGNATURES, with_processes

CPUS = 2
TICKS = 30_000 * MS // TICK


def signal(shares: Floats) -> Signal:
    end_ns = START + TICK * np.arange(1, shares.size + 1, dtype=np.int64)
    return Signal(end_ns - TICK, end_ns, shares)


def busy_shares(load: float, minutes: int, seed: int) -> Floats:
    """Two CPUs at a load by requests that come at random and cost 1.5 ms each, exponentially."""
    draw = np.random.default_rng(seed)
    window_s, cost_s = WINDOW_NS / 1e9, 0.0015
    rate = load * CPUS / cost_s
    counts = draw.poisson(rate * window_s, round(minutes * 60 / window_s))
    asked = draw.gamma(counts, cost_s) / (CPUS * window_s)
    busy, left = np.empty(asked.size), 0.0
    for at, came in enumerate(asked.tolist()):
        left += came
        busy[at] = min(1.0, left)
        left -= busy[at]
    return busy


@pytest.mark.parametrize(("load", "most_ms"), [(0.1, 50), (0.5, 300), (0.8, 1500), (0.9, 10_000)])
def test_chance_seldom_fills_the_cpus_for_longer(load: float, most_ms: int) -> None:
    """Against a simulated hour: as rare as it says, and shorter the lower the load."""
    minutes = 60
    busy = busy_shares(load, minutes, seed=1)
    ten = busy[: 10 * 60 * 20]
    length_ns = chance_ns(signal(ten), Span(START, START + ten.size * WINDOW_NS))
    assert length_ns <= most_ms * MS
    if length_ns < LONGEST_NS:
        count = length_ns // WINDOW_NS
        means = np.convolve(busy, np.full(count, 1 / count), mode="valid")
        assert len(stretches(means >= 0.95)) <= RARE * minutes


@pytest.mark.parametrize(("seconds", "is_chance"), [(0.5, True), (4, True), (12, False)])
def test_at_nine_tenths_cpus_are_full_for_seconds_by_chance(seconds: float, is_chance: bool):
    """RUBiS with its CPUs 87 % busy: six overloads were told in three minutes."""
    busy = busy_shares(0.9, 3, seed=3)
    window = Window(start_ns=START + 60_000 * MS, end_ns=START + round((60 + seconds) * 1e9))
    busy[1200 : 1200 + round(seconds * 20)] = 1.0
    span = Span(START, START + busy.size * WINDOW_NS)
    assert full_by_chance(signal(busy * CPUS), CPUS, span)(window) == is_chance


def test_the_tail_is_scipy_s() -> None:
    t = np.linspace(-3, 40, 200)
    assert [beyond(each) for each in t] == pytest.approx(student.sf(t, 5), rel=1e-6)
    assert pytest.approx(student.ppf(0.75, 5), rel=1e-4) == QUARTILE


def test_nothing_is_known_of_a_moment() -> None:
    assert chance_ns(signal(np.zeros(TICKS)), Span(START, START)) == LONGEST_NS


def run(tmp_path, signature: str, usual: Floats):
    """Three tenths of a second of full CPUs in half a minute that is else as busy as that."""
    stalled, _, _, samples = SIGNATURES[signature]
    folder = made_stall.make(tmp_path, stalled, samples)
    rows = made_stall.read(folder, "cpu")
    for row in rows:
        if row["busy"] < 1.0:
            row["busy"] = float(usual[(row["t_ns"] - START) // TICK % usual.size])
    made_stall.write(folder, "cpu", rows)
    return diagnosed(folder).findings


def test_near_capacity_cpus_are_full_for_a_moment_by_chance(tmp_path, monkeypatch) -> None:
    """In ten undisturbed minutes, 81 % busy, they were for 0.2 to 0.7 s ten times, and each was an
    overload. A neighbour's three tenths of a second are no chance.
    """
    monkeypatch.setattr(made_stall, "usual", with_processes)
    usual = np.clip(np.random.default_rng(2).normal(0.8, 0.1, TICKS), 0.0, 0.94)
    assert run(tmp_path / "own", "more work than CPU", usual) == []
    (found,) = run(tmp_path / "other", "a neighbour in another server's domain", usual)
    assert found.cause == "cpu"


def test_at_a_low_load_cpus_are_full_for_a_moment_by_something(tmp_path, monkeypatch) -> None:
    """A page that costs as much was told of from half a second on only, whatever the load."""
    monkeypatch.setattr(made_stall, "usual", with_processes)
    usual = np.random.default_rng(2).normal(0.3, 0.05, TICKS)
    (found,) = run(tmp_path, "more work than CPU", usual)
    assert found.cause == "overload"
