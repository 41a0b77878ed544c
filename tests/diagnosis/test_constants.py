"""Each number that stands beside a rule says why, and can be moved to see how much it matters."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import constants
import pytest
import sensitivity
from campaign import Planned
from score import Score
from scoring import VIEWS, scored_by
from truth import Injected

import tierlab.diagnosis

from . import made_stall
from .made_stall import STALL
from .signatures import SIGNATURES

FOUND = constants.constants()
OF_THE_ANALYSIS = {"LEVEL", "SATURATED", "SERVED_FROM_NS", "STAY_NS", "WINDOW_NS"}

BY_PLACE = {each.place: each for each in FOUND}


def test_each_says_what_it_is_for():
    assert [each.place for each in FOUND if not each.why] == []


UNITS = {0, 1, 2, 20, 100, 1000, 10**9}
"""Of anything: nothing, one and a half, and what figures are told in (2**20 bytes are a MiB)."""

WITHIN = {
    "backlog.py": {1e-9},  # no division by nothing
    "demand.py": {3, 0.975},  # its last third; a 95 % interval
    "full_by_chance.py": {0.25, 0.5, 0.75, 3, 5},  # quartiles, and Student's t
    "moved.py": {0.001},  # as small as it says
    "signals.py": {1e-12, 62},  # rounding; before all times
    "surge.py": {5},  # how finely it looks
    "words.py": {3},  # "three times"
}
"""Numbers that are no choice, by file."""


def test_none_is_written_into_a_rule():
    """What stands in an expression is in no table, and nobody halves and doubles it."""
    found = {}
    for file in sorted(Path(tierlab.diagnosis.__file__).parent.rglob("*.py")):
        functions = [
            each
            for each in ast.walk(ast.parse(file.read_text()))
            if isinstance(each, ast.FunctionDef)
        ]
        numbers = {
            each.value
            for function in functions
            for each in ast.walk(function)
            if isinstance(each, ast.Constant) and type(each.value) in (int, float)
        }
        if left := numbers - UNITS - WITHIN.get(file.name, set()):
            found[file.name] = left
    assert found == {}


def test_none_is_overlooked():
    known = {(user, each.name) for each in FOUND for user in each.users}
    there = {
        (found.name, name)
        for found in walk_packages(tierlab.diagnosis.__path__, "tierlab.diagnosis.")
        for name, value in vars(import_module(found.name)).items()
        if name.isupper()
        and isinstance(value, int | float)
        and name not in {*constants.GIVEN, *OF_THE_ANALYSIS}
    }
    assert there - known == set()


def test_none_is_used_where_moving_it_would_change_nothing():
    assert constants.used_on_import() == []


def test_whoever_uses_it_sees_it_moved():
    unusual = BY_PLACE["stalls.UNUSUAL"]
    assert len(unusual.users) > 1

    def seen():
        return {getattr(sys.modules[user], unusual.name) for user in unusual.users}

    with unusual.times(2)():
        assert seen() == {2 * unusual.value}
    assert seen() == {unusual.value}


@pytest.mark.parametrize(("place", "half"), [("stalls.MANY", 2), ("attribution.HELD_UP", 0.3)])
def test_what_counts_stays_a_whole_number(place, half):
    with BY_PLACE[place].times(0.5)():
        value = vars(sys.modules[f"tierlab.diagnosis.{place.partition('.')[0]}"])
        assert value[place.partition(".")[2]] == half


def test_the_table_says_how_much_each_matters(tmp_path):
    _, subject, samples, extra = SIGNATURES["freeze of the database"]
    folder = made_stall.make(tmp_path / "001", subject, samples, extra)
    made = [(Planned("single-0", "single", "low", "", 1), folder)]
    true = {"single-0": [Injected(1, "freeze", "db.1", *STALL, delayed=9, held=9)]}
    by = partial(scored_by, made=made, truths=true, view=VIEWS[0])
    text = sensitivity.of_constants(by, [BY_PLACE["stalls.LONG_NS"], BY_PLACE["words.DEARER"]])
    assert "as the numbers are: 1.000" in text
    assert "| `stalls.LONG_NS` | 30 ms |" in text
    assert text.count("| +0.000 | +0.000 |") == 2


def test_a_number_that_hides_a_disturbance_is_seen():
    scores = iter([3, 3, 0])

    def scored(_rules):
        return [Score(by_cause={"freeze": Counter(freeze=next(scores), unknown=1)})]

    text = sensitivity.of_constants(scored, [BY_PLACE["stalls.LONG_NS"]])
    assert text.endswith("| +0.000 | -0.750 |")
