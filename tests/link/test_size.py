"""Linking takes time that grows with the visits, and memory that does not.

Ten times as many visits as here are linked by bench/link.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "link"))

from made_visits import VISITS, link

from tests.figures import figure

pytestmark = pytest.mark.slow

REQUESTS = 60_000


def test_visits_are_linked_in_bounded_time_and_memory(tmp_path: Path) -> None:
    third = link(REQUESTS // 3, tmp_path)
    whole = link(REQUESTS, tmp_path)
    figure(f"{third}; {whole}")
    assert whole.visits == REQUESTS * VISITS
    assert whole.unlinked == 0
    assert whole.cpu_s < 60 * whole.visits / 9e6 + 1
    assert whole.peak < third.peak + (32 << 20)
