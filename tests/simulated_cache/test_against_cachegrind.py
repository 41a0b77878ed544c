"""The simulated cache beside valgrind's cachegrind: two models of one machine."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.figures import figure
from tests.simulated_cache.cachegrind import misses
from tests.simulated_cache.emulated import NEEDS_EMULATOR, by_symbol, compiled, counted, total
from tierlab.machine.caches import Caches, Level, plugin

pytestmark = [
    NEEDS_EMULATOR,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind"),
]

KIB = 1 << 10
SMALL = Caches(Level(16 * KIB, 4), Level(16 * KIB, 4), None, Level(512 * KIB, 8))
UNEVEN = Caches(Level(48 * KIB, 12), Level(32 * KIB, 8), None, Level(1408 * KIB, 11))
"""Neither cache has a power of two of ways, nor the last of sets."""


@pytest.mark.parametrize(
    ("name", "caches", "misses_in"),
    [
        ("numbers", SMALL, ("L1-dcache-misses", "LLC-misses")),
        ("words", SMALL, ("L1-dcache-misses", "LLC-misses")),
        ("words", UNEVEN, ("L1-dcache-misses", "LLC-misses")),
        ("code", SMALL, ("L1-icache-misses",)),
    ],
)
def test_misses_and_where_they_are_agree(
    name: str, caches: Caches, misses_in: Sequence[str], tmp_path: Path
) -> None:
    """Where every set is simulated, and where one in sixteen is."""
    program = compiled(name, tmp_path)
    theirs = misses(program, caches, tmp_path / "cachegrind")
    for one_in in (1, 16):
        out = tmp_path / f"counts-{one_in}"
        ours = counted(plugin(caches, [0], out, one_in=one_in), out, program)
        names = ("instructions", *misses_in)
        ratios = {event: total(ours, event) / theirs[event].total() for event in names}
        figure(f"one in {one_in}: " + ", ".join(f"{n} {r:.4f}" for n, r in ratios.items()))
        assert ratios["instructions"] == pytest.approx(1, rel=0.01)
        for event in misses_in:
            assert ratios[event] == pytest.approx(1, rel=0.1), event
            top = {symbol for symbol, _ in theirs[event].most_common(5)}
            mine = {symbol for symbol, _ in by_symbol(ours, event).most_common(5)}
            assert len(top & mine) >= 4, event
