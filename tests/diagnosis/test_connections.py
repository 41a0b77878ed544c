"""On how many connections a server had visits, beside the plain count."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tierlab.diagnosis.connections import Connections
from tierlab.diagnosis.finding import Window


@pytest.mark.parametrize("seed", range(20))
def test_those_with_a_visit_within_the_window_count(seed: int) -> None:
    """Some visits take long, and some never leave."""
    draw = random.Random(seed)
    arrivals = sorted(draw.randrange(1_000) for _ in range(200))
    never = np.iinfo(np.int64).max
    visits = [
        (at, draw.choice([at + 5, at + 5, at + draw.randrange(400), never]), draw.randrange(30))
        for at in arrivals
    ]
    known = Connections(*(np.array(each, dtype=np.int64) for each in zip(*visits, strict=True)))
    for _ in range(50):
        start, end = sorted(draw.sample(range(-50, 1_100), 2))
        there = {c for came, left, c in visits if came < end and left > start}
        assert known.used(Window(start_ns=start, end_ns=end)) == len(there)
