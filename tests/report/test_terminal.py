"""The lines on the terminal, where there is more to say than there is room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tierlab.report import terminal
from tierlab.report.words import answer


@pytest.mark.parametrize("changes", range(14))
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_every_warning_is_shown_or_counted(made, count, changes):
    """Beside many changes there was no room: some were hidden, and the number was wrong."""
    warnings = [f"Warning {n}." for n in range(count)]
    said = replace(answer(made.summary), warnings=warnings, changes=["db.1"] * changes)
    lines = [each.plain for each in terminal.lines(said, made.diagnosis, "report.html")]
    warned = [line.removeprefix("  ! ") for line in lines if line.startswith("  ! ")]
    shown = [line for line in warned if line in warnings]
    left = [int(line.split()[2]) for line in warned if line.startswith("... and")]
    assert shown == warnings[: len(shown)]
    assert len(shown) + sum(left) == count
