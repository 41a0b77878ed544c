"""Who asks which query when: streams, each with the 22 queries in an order of its own.

The form of the description is that of `agent/crates/drive/src/workload.rs`. Source: TPC Benchmark
H, Standard Specification, appendix A, "Ordered sets", of which the first eleven are here: a
throughput test has so many streams at scale 100,000.
"""

from __future__ import annotations

import random
from typing import Any

from tierlab.workloads.tpch import queries

ORDERS = (
    (14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12),
    (21, 3, 18, 5, 11, 7, 6, 20, 17, 12, 16, 15, 13, 10, 2, 8, 14, 19, 9, 22, 1, 4),
    (6, 17, 14, 16, 19, 10, 9, 2, 15, 8, 5, 22, 12, 7, 13, 18, 1, 4, 20, 3, 11, 21),
    (8, 5, 4, 6, 17, 7, 1, 18, 22, 14, 9, 10, 15, 11, 20, 2, 21, 19, 13, 16, 12, 3),
    (5, 21, 14, 19, 15, 17, 12, 6, 4, 9, 8, 16, 11, 2, 10, 18, 1, 13, 7, 22, 3, 20),
    (21, 15, 4, 6, 7, 16, 19, 18, 14, 22, 11, 13, 3, 1, 2, 5, 8, 20, 12, 17, 10, 9),
    (10, 3, 15, 13, 6, 8, 9, 7, 4, 11, 22, 18, 12, 1, 5, 16, 2, 14, 19, 20, 17, 21),
    (18, 8, 20, 21, 2, 4, 22, 17, 1, 11, 9, 19, 3, 13, 5, 7, 10, 16, 6, 14, 15, 12),
    (19, 1, 15, 17, 5, 8, 9, 12, 14, 7, 4, 3, 20, 16, 6, 22, 10, 13, 2, 21, 18, 11),
    (8, 13, 2, 20, 17, 3, 6, 21, 18, 11, 19, 10, 15, 4, 22, 1, 7, 12, 9, 14, 5, 16),
    (6, 15, 18, 17, 12, 1, 7, 2, 22, 13, 21, 10, 14, 9, 3, 16, 20, 19, 11, 4, 8, 5),
)
"""The first is the power test's; the others are those of a throughput test's streams."""

MIXES = ("all", "all-drawn", "q3", "q3-drawn")
"""All queries, or the third alone; with the values that the specification validates with, or with
drawn ones."""

VARIANTS = 16
"""Statements that are drawn for each query."""


def users(mix: str, scale: float, seed: int) -> dict[str, Any]:
    """The description: a user is a stream, and takes the orders in turn with the others."""
    which, _, how = mix.partition("-")
    orders: tuple[tuple[int, ...], ...] = ORDERS if which == "all" else ((3,),)
    asked = sorted(set(orders[0]))
    return {
        "name": f"tpch {mix}",
        "home": queries.name(orders[0][0]),
        "states": [
            {
                "name": queries.name(query),
                "statements": _statements(query, scale, seed if how == "drawn" else None),
            }
            for query in asked
        ],
        "sessions": [
            _stream(number, order) | {"share": 1 / len(orders)}
            for number, order in enumerate(orders)
        ],
        "sessions_in_turn": True,
        # A session is the whole order, once.
        "rules": {"session_limit": len(asked)} if len(asked) > 1 else {},
    }


def _statements(query: int, scale: float, seed: int | None) -> list[str]:
    if seed is None:
        return [queries.validating(query, scale)]
    dice = random.Random(f"TPC-H query {query} of {seed}")
    return [queries.drawn(query, scale, dice) for _ in range(VARIANTS)]


def _stream(number: int, order: tuple[int, ...]) -> dict[str, Any]:
    names = [queries.name(query) for query in order]
    followed = zip(names, names[1:] + names[:1], strict=True)
    return {
        "name": f"stream {number}",
        "home": names[0],
        "identity": {"numbers": [1, 1], "values": {}},
        "transitions": {name: [(after, 1.0)] for name, after in followed},
    }
