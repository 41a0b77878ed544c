"""By what two groups of trials are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from tierlab.analysis.comparing.blocks import BINS, Blocks, Counted
from tierlab.analysis.comparing.bootstrap import Resampled
from tierlab.analysis.query import Floats
from tierlab.analysis.resources.event_rates import CLOCKS

BY_PAGE = "response time, by page"
PER_DRIVER = "response time, by page, per driver CPU"
"""How many times as long as what the driver computes for a request. The driver is the same program
with the same work in each trial: where the whole machine was slower, it was too, and their ratio is
not. Such a reference that runs at the same time is what L. Bulej et al. call a duet: "Duet
Benchmarking: Improving Measurement Accuracy in the Cloud", ICPE 2020.
"""
FEWEST = 30
"""Requests of an interaction, or events, in every trial, for a ratio to mean something."""
FAILED_LEAST = 0.01
"""A smaller change of the share of failed requests is not claimed."""
OTHERS = 0.15
"""Weight of all measures together that are not asked for first."""
Verdict = Literal["better", "worse"]
Of = Callable[[Blocks], Floats]


@dataclass(frozen=True)
class Measure:
    """A figure of a trial, for every draw; trials are compared by the ratio of theirs."""

    name: str
    unit: str
    more: Verdict
    """What it is when the second group has more of it."""
    figure: Callable[[Resampled], Floats]
    weight: float
    """Share of the risk of a false claim that is for it."""
    least: float | None = None
    """For figures that may be 0: they are compared by their difference, and a smaller one than
    this is not claimed."""


def measures(trials: Sequence[Blocks]) -> Iterator[Measure]:
    """What can be compared: what every one of the trials measured, often enough."""
    pages = _pages(trials)
    if pages:
        by_page = cache(lambda t: _by_page(t, pages))
        yield Measure(BY_PAGE, "s", "worse", by_page, weight=0.2)
        if all(each.driver_s is not None for each in trials):
            yield Measure(
                PER_DRIVER,
                "",
                "worse",
                lambda t: by_page(t) / _driver(t),
                weight=0.4,
            )
    yield Measure("throughput", "/s", "better", _throughput, weight=0.15)
    yield Measure("failed requests", "share", "worse", _failed, weight=0.1, least=FAILED_LEAST)
    yield from _others(trials)


def _others(trials: Sequence[Blocks]) -> list[Measure]:
    servers = _common(each.cpu_s for each in trials)
    faulty = [
        server
        for server in _common(each.major_faults for each in trials)
        if all(each.major_faults[server].sum() >= FEWEST for each in trials)
    ]
    counted = sorted(set.intersection(*(set(each.counted) for each in trials)))
    ratios = [key for key in counted if _costs(key) and _of_instructions(key) in counted]
    weight = OTHERS / (3 + len(servers) + len(faulty) + len(counted) + len(ratios))
    times = [
        Measure("response time, mean", "s", "worse", _mean, weight=weight),
        Measure("response time, p99", "s", "worse", _p99, weight=weight),
    ]
    cpu = [_cpu(server, [server], weight) for server in servers]
    if len(servers) > 1 and all(len(each.cpu_s) == len(servers) for each in trials):
        cpu.insert(0, _cpu("all servers", servers, weight))
    return [
        *times,
        *cpu,
        *(_faults(server, weight) for server in faulty),
        *(_events(key, weight) for key in counted),
        *(_misses(key, weight) for key in ratios),
    ]


def _cpu(name: str, servers: Sequence[str], weight: float) -> Measure:
    def spent(blocks: Blocks) -> Floats:
        found: Floats = np.sum([blocks.cpu_s[each] for each in servers], axis=0)
        return found

    return Measure(
        f"{name}: CPU a request",
        "s",
        "worse",
        lambda t: _each(t, spent),
        weight=weight,
    )


def _faults(server: str, weight: float) -> Measure:
    return Measure(
        f"{server}: major faults",
        "/s",
        "worse",
        lambda t: _rate(t, lambda b: b.major_faults[server]),
        weight=weight,
    )


def _events(key: Counted, weight: float) -> Measure:
    """Events a request; time that is counted as one is in seconds."""
    is_time = key.event in CLOCKS
    return Measure(
        f"{key.domain}: {key.event} a request ({key.source})",
        "s" if is_time else "",
        "worse",
        lambda t: _each(t, lambda b: b.counted[key]) / (1e9 if is_time else 1.0),
        weight=weight,
    )


def _misses(key: Counted, weight: float) -> Measure:
    instructions = _of_instructions(key)
    return Measure(
        f"{key.domain}: {key.event} an instruction ({key.source})",
        "",
        "worse",
        lambda t: t.total(lambda b: b.counted[key]) / t.total(lambda b: b.counted[instructions]),
        weight=weight,
    )


def _costs(key: Counted) -> bool:
    """Whether an instruction has more or fewer of it."""
    return key.event == "cycles" or key.event.endswith("misses")


def _of_instructions(key: Counted) -> Counted:
    return key._replace(event="instructions")


def _mean(trial: Resampled) -> Floats:
    return _each(trial, lambda b: b.time_s)


def _p99(trial: Resampled) -> Floats:
    return trial.quantile_s(0.99, _all_times)


def _throughput(trial: Resampled) -> Floats:
    return _rate(trial, lambda b: b.done)


def _failed(trial: Resampled) -> Floats:
    failed = trial.total(lambda b: b.failed)
    return failed / (failed + trial.total(lambda b: b.done))


def _rate(trial: Resampled, of: Of) -> Floats:
    """Something a second."""
    return trial.total(of) / trial.total(lambda b: np.full(b.done.size, b.seconds))


def _each(trial: Resampled, of: Of) -> Floats:
    """Something for each request that ended well."""
    return trial.total(of) / trial.total(lambda b: b.done)


def _driver(trial: Resampled) -> Floats:
    """CPU time of the driver for a request of any end; NaN where it was not recorded."""
    spent = trial.total(
        lambda b: np.full(b.done.size, np.nan) if b.driver_s is None else b.driver_s
    )
    return spent / trial.total(lambda b: b.done + b.failed)


def _all_times(blocks: Blocks) -> Floats:
    found: Floats = np.sum([np.zeros((blocks.done.size, BINS)), *blocks.times.values()], axis=0)
    return found


def _times(page: str) -> Of:
    return lambda b: b.times[page]


def _by_page(trial: Resampled, pages: Mapping[str, float]) -> Floats:
    """The geometric mean of the interactions' medians, weighted alike in all trials: which pages
    happened to be asked for is no difference.
    """
    logs = [np.log(trial.quantile_s(0.5, _times(page))) for page in pages]
    found: Floats = np.exp(np.average(np.array(logs), axis=0, weights=list(pages.values())))
    return found


def _pages(trials: Sequence[Blocks]) -> dict[str, float]:
    """How often every trial has each interaction that all have often enough."""
    counts = {
        name: min(float(each.times[name].sum()) for each in trials)
        for name in _common(each.times for each in trials)
    }
    return {name: count for name, count in counts.items() if count >= FEWEST}


def _common(tables: Iterable[Mapping[str, Floats]]) -> list[str]:
    """The names that all have."""
    return sorted(set.intersection(*(set(each) for each in tables)))
