"""How many guessed links are right, held against those by ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .crowd import Linked


@dataclass(frozen=True)
class Score:
    """Shares of the visits whose true parent is known and that came when there was a crowd."""

    visits: int
    under_way: float
    right: float
    false: float
    unlinked: float


def at(visits: pa.Table, server: str) -> pa.Table:
    return visits.filter(pc.field("server") == server).sort_by("visit")


def numbers(column: pa.ChunkedArray[Any]) -> np.ndarray:
    """A column as floats; null is nan."""
    return np.array(column.to_pylist(), dtype=np.float64)


def under_way(visits: pa.Table, moments: np.ndarray) -> np.ndarray:
    """How many requests are under way at the front server at each moment."""
    spans = at(visits, "web.1").select(["arrival_ns", "departure_ns"]).drop_null()
    arrivals, departures = (np.sort(numbers(column)) for column in spans.columns)
    begun = np.searchsorted(arrivals, moments, side="right")
    return np.asarray(begun - np.searchsorted(departures, moments, side="right"))


def compare(
    by_ids: Linked, without: Linked, server: str, crowd: int
) -> tuple[Score, np.ndarray, np.ndarray]:
    """Score a server's guessed parents; also every guess's confidence, and whether it is right."""
    truth, guess = at(by_ids.visits, server), at(without.visits, server)
    assert truth["visit"] == guess["visit"]
    many = under_way(by_ids.visits, numbers(truth["arrival_ns"]))
    parent, guessed = numbers(truth["parent"]), numbers(guess["parent"])
    known = ~np.isnan(parent) & (many >= crowd)
    linked = ~np.isnan(guessed)
    same = parent == guessed
    confidence = numbers(guess["confidence"])
    score = Score(
        visits=int(known.sum()),
        under_way=float(many[known].mean()),
        right=float(same[known].mean()),
        false=float((linked & ~same)[known].mean()),
        unlinked=float((~linked)[known].mean()),
    )
    return score, confidence[known & linked], same[known & linked]
