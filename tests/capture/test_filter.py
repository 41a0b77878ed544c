"""What the filter cuts off changes nothing: live visits against those of whole packets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tracer_bed import PAGES, Bed, dissect, table

from tests.figures import figure

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

SITE = "http://127.0.1.1:8080/rubbos/servlet"
MOST_KEPT = 0.5
"""Of the bytes of these pages."""
MOST_APART_NS = 20_000_000
"""Two captures see a packet at two times; a wrong end would be that of another reply."""
MOST_FAR_APART = 1e-3
"""Of the visits."""


def visits(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table(folder / "raw_visits.arrows").to_pylist()
    return found


def content(visit: dict[str, Any]) -> tuple[Any, ...]:
    keys = ("server", "label", "status", "bytes_in", "bytes_out")
    return (*(visit[key] for key in keys), visit["departure_ns"] is not None)


def durations(found: list[dict[str, Any]]) -> list[int]:
    return sorted(
        visit["departure_ns"] - visit["arrival_ns"]
        for visit in found
        if visit["departure_ns"] is not None
    )


def test_visits_are_the_same_as_those_of_whole_packets(bed: Bed, tmp_path: Path) -> None:
    with bed.dumped("whole") as path, bed.traced("filtered") as traced:
        bed.browse(list(PAGES))
        for page in ("ViewStory?storyId=5", "StoriesOfTheDay"):
            bed.run(["wrk", "-t1", "-c4", "-d1s", f"{SITE}/{page}"])
    whole = dissect(path, tmp_path / "out")
    assert traced.summary["drops"] == 0
    kept = traced.summary["bytes"] / whole["bytes"]
    mine, truth = visits(traced.folder), visits(tmp_path / "out")
    figure(f"{kept:.3f} of the bytes kept, {len(mine)} and {len(truth)} visits")
    assert kept < MOST_KEPT
    assert len(truth) > 500
    different = Counter(map(content, mine))
    different.subtract(Counter(map(content, truth)))
    # What was under way as one of the captures began lacks its beginning there.
    assert sum(map(abs, different.values())) <= 20, different.most_common(5)
    # Where the hypervisor takes the core away between the two, a visit is longer in one of them.
    pairs = zip(durations(mine), durations(truth), strict=False)
    far_apart = sum(abs(one - other) > MOST_APART_NS for one, other in pairs)
    assert far_apart <= MOST_FAR_APART * len(truth)
