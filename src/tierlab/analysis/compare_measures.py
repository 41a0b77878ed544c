"""By what two groups of trials are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tierlab.analysis.blocks import BINS, Blocks
from tierlab.analysis.query import Floats
from tierlab.analysis.redrawn import Redrawn

FEWEST = 30
"""Requests of an interaction, or events, in either group, for a ratio to mean something."""
FAILED_LEAST = 0.01
"""A smaller change of the share of failed requests is not claimed."""
Verdict = Literal["better", "worse"]
Of = Callable[[Blocks], Floats]


@dataclass(frozen=True)
class Measure:
    """A figure of a group, for every draw; two groups are compared by the ratio of theirs."""

    name: str
    unit: str
    more: Verdict
    """What it is when the second group has more of it."""
    figure: Callable[[Redrawn], Floats]
    main: bool = False
    """Whether it is of what is mostly asked: how much, how fast, how often not at all."""
    least: float | None = None
    """For figures that may be 0: they are compared by their difference, and a smaller one than
    this is not claimed."""


def measures(first: Sequence[Blocks], second: Sequence[Blocks]) -> Iterator[Measure]:
    """What can be compared: what every trial of both groups measured, often enough."""
    both = (*first, *second)
    yield Measure("throughput", "/s", "better", lambda g: _rate(g, lambda b: b.done), main=True)
    yield Measure("failed requests", "share", "worse", _failed, main=True, least=FAILED_LEAST)
    pages = _pages(first, second)
    if pages:
        yield Measure(
            "response time, by page", "s", "worse", lambda g: _by_page(g, pages), main=True
        )
    yield Measure("response time, mean", "s", "worse", lambda g: _each(g, lambda b: b.time_s))
    yield Measure("response time, p99", "s", "worse", lambda g: g.quantile_s(0.99, _all_times))
    for server in _common(each.cpu_s for each in both):
        yield _cpu(server)
    for server in _common(each.major_faults for each in both):
        if all(_sum(group, server) >= FEWEST for group in (first, second)):
            yield _faults(server)


def _cpu(server: str) -> Measure:
    name = f"{server}: CPU a request"
    return Measure(name, "s", "worse", lambda g: _each(g, lambda b: b.cpu_s[server]))


def _faults(server: str) -> Measure:
    name = f"{server}: major faults"
    return Measure(name, "/s", "worse", lambda g: _rate(g, lambda b: b.major_faults[server]))


def _failed(group: Redrawn) -> Floats:
    failed = group.total(lambda each: each.failed)
    return failed / (failed + group.total(lambda each: each.done))


def _rate(group: Redrawn, of: Of) -> Floats:
    """Something a second."""
    seconds = group.total(lambda each: np.full(each.done.size, each.seconds))
    return group.total(of) / seconds


def _each(group: Redrawn, of: Of) -> Floats:
    """Something for each request that ended well."""
    return group.total(of) / group.total(lambda each: each.done)


def _all_times(each: Blocks) -> Floats:
    found: Floats = np.sum([np.zeros((each.done.size, BINS)), *each.times.values()], axis=0)
    return found


def _times(interaction: str) -> Of:
    def of(each: Blocks) -> Floats:
        return each.times.get(interaction, np.zeros((each.done.size, BINS)))

    return of


def _by_page(group: Redrawn, pages: Mapping[str, float]) -> Floats:
    """The geometric mean of the interactions' medians, weighted alike in both groups: which pages
    happened to be asked for is no difference.
    """
    logs = [np.log(group.quantile_s(0.5, _times(name))) for name in pages]
    found: Floats = np.exp(np.average(np.array(logs), axis=0, weights=list(pages.values())))
    return found


def _pages(first: Sequence[Blocks], second: Sequence[Blocks]) -> dict[str, float]:
    """How often both groups have each interaction that both have often enough."""
    names = sorted(set().union(*(each.times for each in (*first, *second))))
    counts = {name: min(_count(first, name), _count(second, name)) for name in names}
    return {name: count for name, count in counts.items() if count >= FEWEST}


def _count(trials: Sequence[Blocks], interaction: str) -> float:
    return float(sum(_times(interaction)(each).sum() for each in trials))


def _sum(trials: Sequence[Blocks], server: str) -> float:
    return float(sum(each.major_faults[server].sum() for each in trials))


def _common(tables: Iterable[dict[str, Floats]]) -> list[str]:
    """The servers that all have."""
    return sorted(set.intersection(*(set(each) for each in tables)))
