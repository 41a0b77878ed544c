"""What of a path is a value: the tracer's labels and the users of a recording have one rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tierlab.workloads.own.page_kinds import SUFFIXES, kind

DISSECT = Path(__file__).parents[2] / "agent" / "crates" / "dissect"
EXAMPLES = (DISSECT / "tests" / "paths.txt").read_text(encoding="ascii")


@pytest.mark.parametrize("line", EXAMPLES.splitlines())
def test_a_path_is_shown_as_in_the_tracers_labels(line: str) -> None:
    path, shown = line.split()
    assert kind(f"{path}?x=1") == shown


def test_the_tracer_knows_the_same_files() -> None:
    rule = (DISSECT / "src" / "path_value.rs").read_text(encoding="ascii")
    listed = rule.partition("const SUFFIXES")[2].partition("];")[0]
    assert re.findall(r'"(\w+)"', listed) == SUFFIXES.split()
