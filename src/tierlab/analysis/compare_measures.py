"""By what two groups of trials are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tierlab.analysis.blocks import BINS, Blocks
from tierlab.analysis.query import Floats
from tierlab.analysis.redrawn import DRAWS, Redrawn

FEWEST = 30
"""Requests of an interaction, in either group, for its median to count."""
Verdict = Literal["better", "worse"]
Of = Callable[[Blocks], Floats]


@dataclass(frozen=True)
class Measure:
    """``value`` of a group, ``ratio`` of the second group to the first; a figure for every draw."""

    name: str
    unit: str
    more: Verdict
    """What it is when the second group has more of it."""
    value: Callable[[Redrawn], Floats]
    ratio: Callable[[Redrawn, Redrawn], Floats]


def measures(first: Sequence[Blocks], second: Sequence[Blocks]) -> Iterator[Measure]:
    """What can be compared: what every trial of both groups measured."""
    both = (*first, *second)
    yield _of_values("throughput", "/s", "better", lambda g: _rate(g, lambda b: b.done))
    yield Measure("response time, by page", "s", "worse", _median_s, _page_by_page(first, second))
    yield _of_values("response time, mean", "s", "worse", lambda g: _each(g, lambda b: b.time_s))
    yield _of_values("response time, p99", "s", "worse", lambda g: g.quantile_s(0.99, _all_times))
    for server in _common(each.cpu_s for each in both):
        yield _cpu(server)
    for server in _common(each.major_faults for each in both):
        yield _faults(server)


def _of_values(name: str, unit: str, more: Verdict, value: Callable[[Redrawn], Floats]) -> Measure:
    return Measure(name, unit, more, value, lambda one, other: value(other) / value(one))


def _cpu(server: str) -> Measure:
    return _of_values(
        f"{server}: CPU a request", "s", "worse", lambda g: _each(g, lambda b: b.cpu_s[server])
    )


def _faults(server: str) -> Measure:
    return _of_values(
        f"{server}: major faults",
        "/s",
        "worse",
        lambda g: _rate(g, lambda b: b.major_faults[server]),
    )


def _rate(group: Redrawn, of: Of) -> Floats:
    """Something a second."""
    seconds = group.total(lambda each: np.full(each.done.size, each.seconds))
    return group.total(of) / seconds


def _each(group: Redrawn, of: Of) -> Floats:
    """Something for each request that ended well."""
    return group.total(of) / group.total(lambda each: each.done)


def _median_s(group: Redrawn) -> Floats:
    return group.quantile_s(0.5, _all_times)


def _all_times(each: Blocks) -> Floats:
    found: Floats = np.sum(list(each.times.values()), axis=0)
    return found


def _times(interaction: str) -> Of:
    def of(each: Blocks) -> Floats:
        return each.times.get(interaction, np.zeros((each.done.size, BINS)))

    return of


def _page_by_page(
    first: Sequence[Blocks], second: Sequence[Blocks]
) -> Callable[[Redrawn, Redrawn], Floats]:
    """The ratio of medians of each interaction, averaged by how often both groups have it: which
    pages happened to be asked for is no difference.
    """
    weights = {
        name: min(_count(first, name), _count(second, name))
        for name in sorted(set().union(*(each.times for each in (*first, *second))))
    }
    enough = {name: weight for name, weight in weights.items() if weight >= FEWEST}

    def ratio(one: Redrawn, other: Redrawn) -> Floats:
        if not enough:
            return np.full(1 + DRAWS, np.nan)
        logs = [
            np.log(other.quantile_s(0.5, _times(name)) / one.quantile_s(0.5, _times(name)))
            for name in enough
        ]
        found: Floats = np.exp(np.average(np.array(logs), axis=0, weights=list(enough.values())))
        return found

    return ratio


def _count(trials: Sequence[Blocks], interaction: str) -> float:
    return float(sum(_times(interaction)(each).sum() for each in trials))


def _common(tables: Iterable[dict[str, Floats]]) -> list[str]:
    """The servers that all have."""
    return sorted(set.intersection(*(set(each) for each in tables)))
