"""Servers simulated one visit after the other: the truth that the analysis has to find again."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tierlab.analysis.queues.in_progress import InProgress

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
