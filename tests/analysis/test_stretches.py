"""Stretches of what is marked, against a count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tierlab.analysis.statistics.stretches import stretches


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("", []),
        ("...", []),
        ("###", [[0, 3]]),
        ("#..##.#", [[0, 1], [3, 5], [6, 7]]),
        (".##.", [[1, 3]]),
    ],
)
def test_stretches_begin_and_end_where_the_marks_do(marked: str, expected: list[list[int]]) -> None:
    found = stretches(np.array([each == "#" for each in marked], dtype=np.bool_))
    assert found.shape == (len(expected), 2)
    assert found.tolist() == expected
