"""What `perf record` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.experiment.profile import Profile
from tierlab.observe.agent import Child
from tierlab.observe.perf import Recorder


def test_guests_are_asked_for_by_events_that_only_a_processor_counts(tmp_path: Path) -> None:
    """Without a modifier perf's `cycles` leaves out what guests execute."""
    asked: list[str] = []

    def spawn(argv: Sequence[str], _: Path) -> Child:
        asked.extend(argv)
        raise UserError("nothing is to be started here")

    for events in (("cycles",), ("LLC-load-misses", "cpu-clock", "page-faults")):
        file = tmp_path / events[0]
        with pytest.raises(UserError):
            Recorder(Profile(), events, file, tmp_path / "log").start(spawn)
    named = [asked[at + 1] for at, word in enumerate(asked) if word == "--event"]
    assert named == ["cycles:GH", "LLC-load-misses:GH,cpu-clock,page-faults"]
