"""The best of some tries: as few as are needed, and a failure that names them all."""

from __future__ import annotations

import itertools

import pytest

from tests.tries import best_of


def test_it_stops_at_the_first_that_holds() -> None:
    errors = iter([5.0, 2.0, 1.0])
    assert best_of(lambda: next(errors), lambda error: error <= 3) == 2.0
    assert list(errors) == [1.0]


def test_what_never_holds_fails_and_names_every_try() -> None:
    errors = itertools.count(4)
    with pytest.raises(AssertionError, match=r"none of 3 tries holds: \[4, 5, 6\]"):
        best_of(lambda: next(errors), lambda error: error <= 3, tries=3)
