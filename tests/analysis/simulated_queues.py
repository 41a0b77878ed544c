"""Servers simulated one visit after the other: the truth that the analysis has to find again."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tierlab.analysis.in_progress import InProgress

Ints = npt.NDArray[np.int64]
MS = 1_000_000
SECOND = 1_000 * MS


def poisson(rate: float, seconds: float, dice: np.random.Generator, start_s: float = 0.0) -> Ints:
    """Arrivals of a Poisson process, in ns."""
    count = dice.poisson(rate * seconds)
    times = start_s + np.sort(dice.random(count)) * seconds
    return (times * SECOND).astype(np.int64)


def first_come(
    arrival: Ints, service: Ints, frozen: Sequence[tuple[int, int]] = (), workers: int = 1
) -> Ints:
    """Departures of a server that takes visits in order and stands still while ``frozen``."""
    free = [0] * workers
    departure = []
    for came, work in zip(arrival.tolist(), service.tolist(), strict=True):
        end = worked(max(came, heapq.heappop(free)), work, frozen)
        heapq.heappush(free, end)
        departure.append(end)
    return np.array(departure, dtype=np.int64)


def worked(start: int, service: int, frozen: Sequence[tuple[int, int]]) -> int:
    """The end of so much work begun at ``start``, with nothing done while frozen."""
    at, left = start, service
    for stop, go in frozen:
        if go <= at:
            continue
        if at + left <= stop:
            break
        left -= max(0, stop - at)
        at = go
    return at + left


def progress(arrival: Ints, departure: Ints) -> InProgress:
    """As the analysis takes it: each in order of time."""
    return InProgress(np.sort(arrival), np.sort(departure))


CHAIN = ("web.1", "app.1", "lb.1", "db.1")


def chain(
    arrival: Ints, frozen: dict[str, list[tuple[int, int]]], dice: np.random.Generator
) -> dict[str, InProgress]:
    """Requests through four tiers: each works, calls the next one (the application twice), works
    again. A frozen server does not work and does not take calls; there are threads for all.
    """
    stays: dict[str, list[tuple[int, int]]] = {name: [] for name in CHAIN}
    for came in arrival.tolist():
        visit(0, came, stays, frozen, dice)
    return {
        name: progress(*(np.array(each, dtype=np.int64) for each in zip(*mine, strict=True)))
        for name, mine in stays.items()
    }


def visit(
    depth: int,
    came: int,
    stays: dict[str, list[tuple[int, int]]],
    frozen: dict[str, list[tuple[int, int]]],
    dice: np.random.Generator,
) -> int:
    """The end of a visit at that tier, which is noted in ``stays`` like those it causes."""
    name = CHAIN[depth]
    work = [int(each * MS) for each in dice.exponential((0.2, 0.5, 0.1, 0.6)[depth], 3)]
    at = worked(came, work[0], frozen.get(name, []))
    if depth + 1 < len(CHAIN):
        for call in range(2 if name == "app.1" else 1):
            at = visit(depth + 1, at, stays, frozen, dice)
            at = worked(at, work[1 + call], frozen.get(name, []))
    stays[name].append((came, at))
    return at
