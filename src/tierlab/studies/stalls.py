"""What was saturated at the database, for how long, and why?

J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), figures 30 and 31.
"""

from __future__ import annotations

from collections.abc import Collection
from statistics import median

import numpy as np

from tierlab.analysis.resources.saturation import saturations
from tierlab.analysis.span import WINDOW_NS
from tierlab.analysis.statistics.association import associations, indicator
from tierlab.analysis.statistics.episodes import GAP_NS
from tierlab.diagnosis import diagnose
from tierlab.diagnosis.causes import memory
from tierlab.studies.measured import Measure, Measured, milliseconds, missing, share_of
from tierlab.studies.queues import touches, unseen
from tierlab.studies.seen import Seen

IOWAIT = frozenset({"iowait"})
PRESSURE = frozenset({"memory pressure", "io pressure"})


def stretches(seen: Seen, resources: Collection[str]) -> list[tuple[int, int]]:
    """Return when one of the resources was saturated, of the host or of a database: windows that
    overlap, or lie within the 200 ms that make an episode of events, are one.
    """
    found = [
        (each.start_ns, each.end_ns)
        for each in seen.saturations
        if each.resource in resources
        and (each.resource in IOWAIT or seen.tier(each.subject) in seen.database_tiers)
    ]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1] + GAP_NS:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _sampled(seen: Seen, resources: Collection[str]) -> bool:
    if resources == IOWAIT:
        return seen.iowait(WINDOW_NS) is not None
    return seen.observed.run.has("pressure")


def _length(seen: Seen, resources: Collection[str]) -> Measured:
    if not _sampled(seen, resources):
        return missing("it was not sampled")
    if (lack := unseen(seen)) is not None:
        return lack
    windows = stretches(seen, resources)
    longest = [
        max((end - start for start, end in windows if touches(c, start, end)), default=0) / 1e9
        for c in seen.clusters
    ]
    met = sum(each > 0 for each in longest)
    middle = median(longest)
    return Measured(
        value=middle,
        words=f"{milliseconds(middle)}, the median of {len(longest)} clusters ({met} had any)",
    )


def _coincide(seen: Seen) -> Measured:
    if not (_sampled(seen, IOWAIT) or _sampled(seen, PRESSURE)):
        return missing("neither iowait nor pressure was sampled")
    if (lack := unseen(seen)) is not None:
        return lack
    windows = stretches(seen, IOWAIT | PRESSURE)
    hit = sum(any(touches(c, *window) for window in windows) for c in seen.clusters)
    return share_of(hit, len(seen.clusters), "clusters with a saturated window")


def _faults_with_stalls(seen: Seen) -> Measured:
    faults = seen.faults(WINDOW_NS)
    if faults is None:
        return missing("the databases' page faults were not sampled")
    windows = stretches(seen, IOWAIT | PRESSURE)
    if not windows:
        return missing("nothing was saturated")
    found = associations({"page faults": faults}, indicator(windows, seen.edges(WINDOW_NS)))
    if not found:
        return Measured(value=0.0, words="0: no page was read back")
    best = found[0]
    return Measured(
        value=best.correlation,
        words=f"{best.correlation:.2f} at a lag of {best.lag_s * 1e3:.0f} ms (p = {best.p:.2g})",
    )


def _burst(seen: Seen) -> Measured:
    faults = seen.faults(WINDOW_NS)
    if faults is None:
        return missing("the databases' page faults were not sampled")
    mean, most = float(np.nanmean(faults)), float(np.nanmax(faults))
    if not mean:
        return Measured(value=0.0, words="0: no page was read back")
    each = WINDOW_NS / 1e9
    return Measured(
        value=most / mean,
        words=f"{most / mean:.0f} times: {most * each:,.0f} in one 50 ms, {mean * each:.2g} on"
        " average",
    )


def _root_cause(seen: Seen) -> Measured:
    if (lack := unseen(seen)) is not None:
        return lack
    blamed = [
        window
        for finding in seen.diagnosis.findings
        if finding.cause == memory.NAME and finding.tier in seen.database_tiers
        for window in finding.windows
    ]
    hit = sum(any(touches(c, w.start_ns, w.end_ns) for w in blamed) for c in seen.clusters)
    others = {f"{each.cause} at {each.subject}" for each in seen.diagnosis.findings}
    found = ", ".join(sorted(others)) or "nothing"
    return share_of(hit, len(seen.clusters), f"clusters; the diagnosis found: {found}")


IOWAIT_LENGTH = Measure(
    "longest stretch in which a core spent half of its time or more in iowait, a cluster",
    (saturations,),
    lambda seen: _length(seen, IOWAIT),
)
PRESSURE_LENGTH = Measure(
    "longest stretch in which the database's tasks were stalled by memory or its disk, a cluster",
    (saturations,),
    lambda seen: _length(seen, PRESSURE),
)
COINCIDE = Measure(
    "share of the clusters in which iowait was high or the database stalled by memory or disk",
    (saturations,),
    _coincide,
)
FAULTS_WITH_STALLS = Measure(
    "correlation of the pages that the database read back in each 50 ms with those stretches",
    (associations, indicator),
    _faults_with_stalls,
)
BURST = Measure(
    "most pages that the database read back in 50 ms, over their mean", (Seen.faults,), _burst
)
ROOT_CAUSE = Measure(
    "share of the clusters that the diagnosis explains by memory thrashing at a database",
    (diagnose,),
    _root_cause,
)
