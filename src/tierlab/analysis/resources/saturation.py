"""When was a resource saturated, hard or soft, and for how long?

The third step of transient-event analysis in J. Park, "Performance Scalability of N-Tier
Application in Virtualized Cloud Environments" (PhD thesis, Georgia Institute of Technology, 2016),
section 4.3, figure 30: very short bottlenecks are windows of tens to hundreds of milliseconds in
which a resource is fully used while its average stays moderate. Hard resources are sampled; the use
of soft ones (threads, pools) is also counted exactly from the visits in progress.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import duckdb
import numpy as np

from tierlab.analysis.query import Bools, Connection, Floats, Ints, bounds, columns, rows
from tierlab.analysis.queues.in_progress import InProgress
from tierlab.analysis.resources.in_force import Held, InForce, in_force
from tierlab.analysis.resources.metrics import HELD_BACK, SATURATED
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.analysis.statistics.stretches import stretches
from tierlab.tables.manifest import Manifest
from tierlab.topology import Topology

JOIN_NS = 10_000_000
"""A soft resource that is free for less is still at its limit: the next one waits for it."""


class Saturation(Result):
    """``resource`` of ``subject`` was at its limit from ``start_ns`` to ``end_ns``.

    ``share`` is the mean share in use and ``peak`` the highest tick's. For what has no limit to be
    a share of, both are its rate per second (page faults, drops) or its level (queued packets).
    """

    resource: str
    subject: str
    start_ns: int
    end_ns: int
    peak: float
    share: float


@dataclass(frozen=True)
class Source:
    """A sampled figure: ``value`` is SQL that gives a share, saturated from ``at`` on.

    With ``burst`` it is a rate that counts when it is ``at`` above what is usual for the subject
    (its median, and eight robust deviations more): there is no limit to reach.
    """

    resource: str
    table: str
    value: str
    at: float
    where: str = "true"
    burst: bool = False


SOURCES: Final = (
    Source("'cpu'", "cpu", "busy", SATURATED),
    Source("'iowait'", "cpu", "iowait", 0.5),
    Source("'steal'", "cpu", "steal", 0.5),
    Source("'disk'", "disk", "busy", SATURATED),
    Source("'throttling'", "domain", HELD_BACK, 0.2),
    Source("'major faults'", "domain", "major_faults * 1e9 / dt_ns", 200.0, burst=True),
    Source("'major faults'", "memory", "major_faults * 1e9 / dt_ns", 200.0, burst=True),
    Source("'memory pressure'", "pressure", '"some"', 0.2, "resource = 'memory'"),
    Source("'io pressure'", "pressure", '"some"', 0.8, "resource = 'io'"),
    Source("'cpu pressure'", "pressure", '"some"', SATURATED, "resource = 'cpu'"),
    Source("'accept queue'", "listen", "accept_queue / greatest(backlog, 1)", 1.0),
    Source("'memory limit'", "domain", "limit_hits * 1e9 / dt_ns", 20.0, burst=True),
    Source("'interface queue'", "net", "queued_packets", 10.0, burst=True),
    Source("'interface drops'", "net", "(drops_in + drops_out) * 1e9 / dt_ns", 1.0, burst=True),
    Source(
        "resource",
        "soft",
        'CASE WHEN waiting > 0 THEN greatest(1.0, in_use / "limit") ELSE in_use / "limit" END',
        1.0,
        '"limit" > 0',
    ),
)
"""What is sampled, and where it counts as saturated. Half a window of iowait or stolen time is a
stall of the threads that wait in it; pressure's ``some`` is already a share of time waited."""


def saturations(
    db: Connection, manifest: Manifest, span: Span, progress: dict[str, InProgress]
) -> list[Saturation]:
    """Return every window in the span in which a resource was at its limit, in order of time.

    ``progress`` are the visits in progress by server, empty where messages were not observed. What
    was not measured, or not in this run's form of a table, gives no window.
    """
    found = [each for source in SOURCES for each in _sampled(db, source, span)]
    held = in_force(db, manifest)
    found += _domains(db, held, span)
    for part, of in held.steps(span):
        found += [_within(part, span, each) for each in _threads(manifest, of, progress, part)]
    return sorted(found, key=lambda each: (each.start_ns, each.resource, each.subject))


def _sampled(db: Connection, source: Source, span: Span) -> list[Saturation]:
    result = []
    for (resource, subject), ticks in _ticks(db, source, span).items():
        at = source.at + (_usual(ticks.value) if source.burst else 0.0)
        result += _windows(resource, subject, ticks, ticks.value >= at)
    return result


@dataclass(frozen=True)
class _Ticks:
    t_ns: Ints
    dt_ns: Ints
    value: Floats


def _ticks(db: Connection, source: Source, span: Span) -> dict[tuple[str, str], _Ticks]:
    """Return the figure's ticks by resource and subject; none where the run has no such column."""
    ticks = f"""SELECT {source.resource} AS resource, subject, t_ns, max(dt_ns) AS dt_ns,
        sum({source.value})::DOUBLE AS value FROM "{source.table}"
        WHERE {source.where} AND dt_ns > 0 AND t_ns > $start AND t_ns - dt_ns < $end
        AND ({source.value}) IS NOT NULL GROUP BY ALL"""
    try:
        names = rows(
            db, f"SELECT DISTINCT resource, subject FROM ({ticks}) ORDER BY ALL", bounds(span)
        )
        # Each name once, and not with each tick: a host with 128 PUs has a million of these.
        found = columns(
            db,
            f"""SELECT dense_rank() OVER (ORDER BY resource, subject) AS number, t_ns, dt_ns, value
                FROM ({ticks}) ORDER BY number, t_ns""",
            bounds(span),
        )
    except (duckdb.CatalogException, duckdb.BinderException):
        return {}
    starts = np.searchsorted(found["number"], np.arange(len(names) + 1) + 1)
    result = {}
    for name, (start, end) in zip(names, pairwise(starts), strict=True):
        mine = (found[column][start:end] for column in ("t_ns", "dt_ns", "value"))
        result[name["resource"], name["subject"]] = _Ticks(*mine)
    return result


def _usual(value: Floats) -> float:
    """Return the median and eight robust standard deviations (of the upper half) together."""
    half, upper = np.quantile(value, [0.5, 0.75])
    return float(half + 8 * (upper - half) / 0.6745)


def _windows(resource: str, subject: str, ticks: _Ticks, full: Bools) -> list[Saturation]:
    """Join saturated ticks that follow each other."""
    return [
        Saturation(
            resource=resource,
            subject=subject,
            start_ns=int(ticks.t_ns[a] - ticks.dt_ns[a]),
            end_ns=int(ticks.t_ns[b - 1]),
            peak=float(ticks.value[a:b].max()),
            share=float(np.average(ticks.value[a:b], weights=ticks.dt_ns[a:b])),
        )
        for a, b in stretches(full).tolist()
    ]


def _domains(db: Connection, held: InForce, span: Span) -> list[Saturation]:
    """Return when a server used all of the PUs that its domain was found to have then.

    A control group's own figure is taken, else the sum of the server's processes.
    """
    result = []
    source = Source("'domain cpu'", "domain", "cpu_ns / dt_ns", SATURATED)
    ticks = _ticks(db, source, span)
    if not ticks:
        source = Source("'domain cpu'", "process", "run_ns / dt_ns", SATURATED, "thread IS NULL")
        ticks = _ticks(db, source, span)
    for (resource, subject), mine in ticks.items():
        cores = held.cores(subject, mine.t_ns - mine.dt_ns // 2)
        if cores is not None:
            share = _Ticks(mine.t_ns, mine.dt_ns, mine.value / cores)
            result += _windows(resource, subject, share, share.value >= source.at)
    return result


def _within(part: Span, span: Span, found: Saturation) -> Saturation:
    """Cut it where its limit was changed: at an end of the part that is none of the span."""
    first = part.start_ns if part.start_ns > span.start_ns else found.start_ns
    last = part.end_ns if part.end_ns < span.end_ns else found.end_ns
    start_ns, end_ns = max(found.start_ns, first), min(found.end_ns, last)
    return found.model_copy(update={"start_ns": start_ns, "end_ns": end_ns})


def _threads(
    manifest: Manifest, held: Mapping[str, Held], progress: dict[str, InProgress], span: Span
) -> list[Saturation]:
    """Return when as many visits were in progress as a soft resource allows: a server's workers,
    and the connection pools of a tier, by the visits of whom it calls.
    """
    result = []
    for name, part in sorted(manifest.servers.items()):
        threads = held[name].soft.get("threads")
        if part.workers and threads and name in progress:
            result += at_limit("threads", name, progress[name], threads, span)
    pools = {name: each.soft["pool"] for name, each in held.items() if "pool" in each.soft}
    topology = manifest.topology
    for tier in topology.tiers:
        owners = [name for name in topology.servers(tier) if name in pools]
        taken = _held_by(topology, owners, progress)
        if taken is not None:
            subject = owners[0] if len(owners) == 1 else tier
            result += at_limit("pool", subject, taken, sum(pools[n] for n in owners), span)
    return result


def _held_by(
    topology: Topology, servers: list[str], progress: dict[str, InProgress]
) -> InProgress | None:
    """Return the visits at whom these servers call; where those have none, at whom those call."""
    reached = set(servers)
    while called := {name for each in servers for name in topology.callees(each)} - reached:
        if seen := [progress[name] for name in sorted(called) if name in progress]:
            return InProgress(
                np.sort(np.concatenate([each.arrival_ns for each in seen])),
                np.sort(np.concatenate([each.departure_ns for each in seen])),
            )
        reached |= called
        servers = sorted(called)
    return None


def at_limit(
    resource: str, subject: str, progress: InProgress, limit: int, span: Span
) -> list[Saturation]:
    """Return exactly when at least ``limit`` visits were in progress, short breaks joined.

    An arrival that makes it ``limit + m`` holds it at the limit until ``m + 1`` have left; arrivals
    meanwhile do the same for themselves, and the union is all of it.
    """
    came, left = progress.arrival_ns, progress.departure_ns
    gone = np.searchsorted(left, came, side="right")
    number = np.arange(1, came.size + 1) - gone
    full = (number >= limit) & (limit > 0)
    if not full.any():
        return []
    start = came[full]
    end = np.maximum.accumulate(left[gone[full] + number[full] - limit])
    first = np.concatenate([[0], np.flatnonzero(start[1:] > end[:-1] + JOIN_NS) + 1])
    last = np.concatenate([first[1:], [start.size]]) - 1
    peaks = np.maximum.reduceat(number[full], first) / limit
    means = progress.mean(np.stack([start[first], end[last]], axis=1).ravel())[::2] / limit
    return [
        Saturation(
            resource=resource,
            subject=subject,
            start_ns=int(start[a]),
            end_ns=int(end[b]),
            peak=float(peak),
            share=float(mean),
        )
        for a, b, peak, mean in zip(first, last, peaks, means, strict=True)
        if start[a] < span.end_ns and end[b] > span.start_ns
    ]
