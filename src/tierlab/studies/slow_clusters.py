"""When did requests take very long, and how long did the others take?

J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), figure 28.
"""

from __future__ import annotations

import numpy as np

from tierlab.analysis.query import IN_SPAN, bounds, columns
from tierlab.analysis.requests.point_in_time import point_in_time
from tierlab.analysis.requests.slow_requests import clusters, slow_requests
from tierlab.studies.measured import Measure, Measured, milliseconds, missing
from tierlab.studies.seen import CLUSTER, Seen

TOGETHER_NS = 2_000_000_000
_EVERY_S = 30.0
_UNSEEN = "no request ended in the runtime"


def _clusters(seen: Seen) -> Measured:
    if seen.slow is None:
        return missing(_UNSEEN)
    number = len(seen.clusters) * _EVERY_S / seen.span.seconds
    return Measured(
        value=number,
        words=f"{number:.1f}: {len(seen.clusters)} in {seen.span.seconds:.0f} s, of"
        f" {seen.slow.very_long.count} requests over {milliseconds(seen.slow.threshold_s)}",
    )


def _grouped(seen: Seen) -> Measured:
    if seen.slow is None:
        return missing(_UNSEEN)
    total = seen.slow.very_long.count
    if not total:
        return missing(f"no request took over {milliseconds(seen.slow.threshold_s)}")
    tight = [c for c in seen.clusters if c.last_start_ns - c.start_ns <= TOGETHER_NS]
    inside = sum(each.count for each in tight)
    return Measured(value=inside / total, words=f"{inside} of {total} very long requests")


def _highest_peak(seen: Seen) -> Measured:
    if seen.slow is None:
        return missing(_UNSEEN)
    peak = float(np.nanmax(point_in_time(seen.observed.db, seen.span).mean_s))
    return Measured(value=peak, words=milliseconds(peak))


def _outside(seen: Seen) -> Measured:
    if seen.slow is None:
        return missing(_UNSEEN)
    found = columns(
        seen.observed.db,
        f"SELECT intended_ns, end_ns FROM requests WHERE end_ns {IN_SPAN}",
        bounds(seen.span),
    )
    outside = np.ones(found["end_ns"].size, dtype=bool)
    for each in seen.clusters:
        outside &= (found["end_ns"] < each.start_ns) | (found["intended_ns"] > each.end_ns)
    if not outside.any():
        return missing("some cluster or other lasted all the time")
    times_s = (found["end_ns"] - found["intended_ns"])[outside] / 1e9
    p99 = float(np.quantile(times_s, 0.99))
    return Measured(value=p99, words=f"{milliseconds(p99)} for 99 % of {times_s.size:,} requests")


CLUSTERS = Measure(
    f"clusters of {CLUSTER} or more very long requests in 30 s",
    (slow_requests, clusters),
    _clusters,
)
GROUPED = Measure(
    "share of the very long requests that are in a cluster whose requests began within 2 s",
    (slow_requests, clusters),
    _grouped,
)
HIGHEST_PEAK = Measure(
    "highest mean response time of the requests that end in one 50 ms",
    (point_in_time,),
    _highest_peak,
)
OUTSIDE = Measure(
    "99th percentile of the response times of requests that were under way in no cluster",
    (slow_requests, clusters),
    _outside,
)
