"""A trial cut into blocks of equal length: what each of them adds to the trial's figures.

Drawing blocks with replacement and adding them up again gives figures as another such trial might
have had them, what happens within a block kept together (the block bootstrap: H. R. Künsch, "The
Jackknife and the Bootstrap for General Stationary Observations", Annals of Statistics 17, 1989).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Floats, batches, bounds, columns, rows
from tierlab.analysis.requests.driver import cpu_by_block
from tierlab.analysis.requests.responses import FAILED, PAGE, RESPONSE_NS
from tierlab.analysis.resources.event_rates import counts_of_all
from tierlab.analysis.span import Span

LEAST_NS = 1_000_000_000
MOST_BLOCKS = 60
FEWEST_COUNTS = 30
"""Samples of an event in a domain, or ticks in which it was counted, for its figures to be kept."""
BIN = 1.01
SHORTEST_S = 1e-5
BINS = int(np.log(1e8) / np.log(BIN))
"""Response times from 10 µs to 1,000 s in steps of 1 %."""


class Counted(NamedTuple):
    """An event as one source counted it in one domain."""

    domain: str
    event: str
    source: str


@dataclass(frozen=True)
class Blocks:
    """Sums by block: every array's first axis is the blocks."""

    seconds: float
    """Length of one."""
    done: Floats
    """Requests that ended well."""
    failed: Floats
    time_s: Floats
    """Response times of those that ended well, added up."""
    times: Mapping[str, Floats]
    """How many had which response time, by interaction of each system: shape (blocks, BINS)."""
    cpu_s: dict[str, Floats]
    """CPU time by server; a server that was not measured is not there."""
    major_faults: dict[str, Floats]
    """The same of major page faults."""
    driver_s: Floats | None
    """CPU time of the driver; None where its records do not cover the trial."""
    start_ns: int | None = None
    """When the first of them began (UTC); None where that is not known."""
    counted: dict[Counted, Floats] = field(default_factory=dict)
    """Events of table `counters`, as many as its samples stand for."""

    @property
    def seconds_in_all(self) -> float:
        """How long all of them are together."""
        return self.seconds * self.done.size

    def summed(self) -> Blocks:
        """All of them as one, for a trial's figures alone."""
        return Blocks(
            seconds=self.seconds_in_all,
            done=_summed(self.done),
            failed=_summed(self.failed),
            time_s=_summed(self.time_s),
            times={name: _summed(each) for name, each in self.times.items()},
            cpu_s={name: _summed(each) for name, each in self.cpu_s.items()},
            major_faults={name: _summed(each) for name, each in self.major_faults.items()},
            driver_s=None if self.driver_s is None else _summed(self.driver_s),
            start_ns=self.start_ns,
            counted={key: _summed(each) for key, each in self.counted.items()},
        )


def _summed(values: Floats) -> Floats:
    found: Floats = values.sum(axis=0, keepdims=True)
    return found


def bin_of(time_s: Floats) -> Floats:
    """The bins of response times."""
    ranks = np.log(np.maximum(time_s, SHORTEST_S) / SHORTEST_S) / np.log(BIN)
    found: Floats = np.clip(ranks, 0, BINS - 1).astype(np.int64)
    return found


def middle_s(rank: Floats) -> Floats:
    """The middle of bins, in seconds."""
    found: Floats = SHORTEST_S * BIN ** (rank + 0.5)
    return found


def blocks(db: Connection, span: Span, most: int | None = MOST_BLOCKS) -> Blocks:
    """Cut a span into at most so many blocks (None: no matter how many) of 1, 2, 4, 8 ... seconds,
    so that blocks of several trials begin at the same times; what is left over is left out. A span
    of less than a second is one block.
    """
    width_ns = min(LEAST_NS, span.duration_ns)
    while most is not None and span.duration_ns // width_ns > most:
        width_ns *= 2
    count = span.duration_ns // width_ns
    cut = Span(span.start_ns, span.start_ns + count * width_ns)
    requests = _requests(db, cut, width_ns)
    return Blocks(
        seconds=width_ns / 1e9,
        done=requests.done,
        failed=requests.failed,
        time_s=requests.time_s,
        times=requests.times,
        cpu_s=_by_server(db, cut, width_ns, "cpu_ns / 1e9"),
        major_faults=_by_server(db, cut, width_ns, "major_faults"),
        driver_s=cpu_by_block(db, cut, count),
        start_ns=cut.start_ns,
        counted=_counted(db, cut, width_ns),
    )


class _Requests(NamedTuple):
    """As ``Blocks`` have them."""

    done: Floats
    failed: Floats
    time_s: Floats
    times: dict[str, Floats]


def _requests(db: Connection, span: Span, width_ns: int) -> _Requests:
    """Count the requests of each block, some at a time: a long trial's are many."""
    count = span.duration_ns // width_ns
    seen = rows(
        db,
        f"SELECT DISTINCT {PAGE} AS page FROM requests WHERE end_ns {IN_SPAN}",
        bounds(span),
    )
    names = sorted(each["page"] for each in seen)
    done, failed, time_ns = np.zeros(count), np.zeros(count), np.zeros(count)
    times = np.zeros(len(names) * count * BINS)
    # The bins are numpy's: another logarithm may put into the next what is on an edge.
    for batch in batches(
        db,
        f"""SELECT (end_ns - $start) // {width_ns} AS block, page, {RESPONSE_NS} AS time_ns,
                {FAILED}::UTINYINT AS failed
            FROM requests JOIN (SELECT unnest($names::VARCHAR[]) AS name,
                unnest(range(len($names::VARCHAR[]))) AS page) ON {PAGE} = name
            WHERE end_ns {IN_SPAN}""",
        {**bounds(span), "names": names},
    ):
        good = batch["failed"] == 0
        block, page, took_ns = (batch[name][good] for name in ("block", "page", "time_ns"))
        done += np.bincount(block, minlength=count)
        failed += np.bincount(batch["block"][~good], minlength=count)
        time_ns += np.bincount(block, took_ns, minlength=count)
        np.add.at(times, (page * count + block) * BINS + bin_of(took_ns / 1e9), 1)
    by_page = zip(names, times.reshape(len(names), count, BINS), strict=True)
    return _Requests(done, failed, time_ns / 1e9, dict(by_page))


def _by_server(db: Connection, span: Span, width_ns: int, value: str) -> dict[str, Floats]:
    """What the ticks that end in each block add up to, by server."""
    found = columns(
        db,
        f"""SELECT subject, (t_ns - 1 - $start) // {width_ns} AS block, sum({value})::DOUBLE AS sum
            FROM domain WHERE t_ns > $start AND t_ns <= $end AND ({value}) IS NOT NULL
            GROUP BY ALL""",
        bounds(span),
    )
    count = span.duration_ns // width_ns
    sums: dict[str, Floats] = {}
    for subject, block, value_of in zip(
        found["subject"], found["block"], found["sum"], strict=True
    ):
        sums.setdefault(str(subject), np.zeros(count))[int(block)] = value_of
    return dict(sorted(sums.items()))


def _counted(db: Connection, span: Span, width_ns: int) -> dict[Counted, Floats]:
    """Events in each block, by domain, event and source; none of idle PUs."""
    found = rows(
        db,
        f"""SELECT domain, event, source, (t_ns - $start) // {width_ns} AS block,
                sum(count)::DOUBLE AS sum
            FROM {counts_of_all()} GROUP BY 1, 2, 3, 4
            QUALIFY sum(count(*)) OVER (PARTITION BY domain, event, source) >= {FEWEST_COUNTS}""",
        bounds(span),
    )
    count = span.duration_ns // width_ns
    sums: dict[Counted, Floats] = {}
    for each in found:
        key = Counted(each["domain"], each["event"], each["source"])
        sums.setdefault(key, np.zeros(count))[each["block"]] = each["sum"]
    return dict(sorted(sums.items()))
