"""The shares of a mix that a transition table leads to, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from tierlab.workloads.sessions.mix import shares


def test_two_states_are_shared_as_their_balance_says() -> None:
    found = shares({"a": {"a": 70, "b": 30}, "b": {"a": 60, "b": 40}}, "a")
    assert found == pytest.approx({"a": 2 / 3, "b": 1 / 3})


def test_a_circle_is_shared_evenly_wherever_it_begins() -> None:
    circle = {"a": {"b": 1}, "b": {"c": 1}, "c": {"a": 1}}
    assert shares(circle, "b") == pytest.approx(dict.fromkeys("abc", 1 / 3))


def test_a_table_drawn_at_random_has_the_shares_of_its_eigenvector() -> None:
    names = "abcdefg"
    weights = np.random.default_rng(3).random((7, 7)) + 0.01
    table = {n: dict(zip(names, row, strict=True)) for n, row in zip(names, weights, strict=True)}
    chain = weights / weights.sum(axis=1, keepdims=True)
    values, vectors = np.linalg.eig(chain.T)
    vector = np.real(vectors[:, np.argmin(abs(values - 1))])
    expected = vector / vector.sum()
    assert shares(table, "a") == pytest.approx(dict(zip(names, expected, strict=True)))
