"""What a trial leaves behind on this host."""

from __future__ import annotations

from pathlib import Path

from tests.command import Command, Start
from tests.conftest import Host, Traces, host


def traces_of(command: Command, place: Path, trial: str = "001") -> Traces:
    """By what a trial of the experiment `t` could be noticed; its ledgers are below `place`."""
    return Traces(f"t-{trial}-{command.process.pid}", place / "state")


def check_nothing_left(command: Command, place: Path, before: Host, trial: str = "001") -> None:
    """Assert that nothing of the trial is left, and that the host is as it was."""
    traces = traces_of(command, place, trial)
    assert traces.none(), traces.found()
    assert not (changed := host().unlike(before)), changed


def check_clean_clears(
    command: Command, tierlab: Start, place: Path, before: Host, trial: str = "001"
) -> None:
    """Assert that a killed trial left something, and that `tierlab clean` leaves nothing of it."""
    assert not traces_of(command, place, trial).none(), "a killed trial cannot have tidied up"
    cleaned = tierlab("clean").end()
    assert cleaned.status == 0, cleaned.stderr
    check_nothing_left(command, place, before, trial)
