"""What several causes ask of a context is found out once, and anew for another window."""

from __future__ import annotations

from dataclasses import replace

from tierlab.analysis.observed import observe
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.stall_context import StallContext, asked_once
from tierlab.tables.run import Run

from . import made_stall
from .test_incidents import stall


def test_a_rule_is_asked_once_for_each_context(tmp_path):
    asked = []

    @asked_once
    def rule(here: StallContext) -> None:
        asked.append(here.window)

    observed = observe(Run(made_stall.make(tmp_path, None)))
    (here,) = RunContext(observed).contexts(stall("db.1", 0, 100, waiting=20), anywhere=False)
    assert rule(here) is None
    assert rule(here) is None
    assert asked == [here.window], "that nothing is known is an answer, too"
    there = replace(here, window=here.around(1_000))
    assert rule(there) is None
    assert asked == [here.window, there.window]
