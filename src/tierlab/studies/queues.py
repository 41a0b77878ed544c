"""Which queues grew when requests took very long, and where from?

J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), figure 29.
"""

from __future__ import annotations

from tierlab.analysis.queues.queue_episodes import queue_episodes
from tierlab.analysis.requests.dropped import retransmitted
from tierlab.analysis.requests.slow_requests import SlowCluster
from tierlab.diagnosis.incidents import Incident, incidents
from tierlab.studies.measured import Measure, Measured, missing, share_of
from tierlab.studies.seen import Seen

NEAR_NS = 500_000_000
"""A queue that grew so shortly before or after a cluster's requests began belongs to it."""


def touches(cluster: SlowCluster, start_ns: int, end_ns: int) -> bool:
    """Say whether a stretch of time lies where the cluster's requests began."""
    return start_ns < cluster.last_start_ns + NEAR_NS and end_ns > cluster.start_ns - NEAR_NS


def unseen(seen: Seen) -> Measured | None:
    """Say what is missing for a measure of what happened in the clusters at the servers."""
    if not seen.observed.in_progress:
        return missing("messages between the tiers were not captured")
    return None if seen.clusters else missing("there was no cluster of very long requests")


def _all_tiers(seen: Seen) -> Measured:
    if (lack := unseen(seen)) is not None:
        return lack
    grown = [
        {seen.tier(e.server) for e in seen.episodes if touches(c, e.onset_ns, e.end_ns)}
        for c in seen.clusters
    ]
    full = sum(each >= seen.tiers for each in grown)
    return share_of(full, len(grown), f"clusters with a queue at each of {len(seen.tiers)} tiers")


def _from_database(seen: Seen) -> Measured:
    if (lack := unseen(seen)) is not None:
        return lack
    largest = [
        max(met, key=_waited)
        for c in seen.clusters
        if (met := [each for each in seen.incidents if touches(c, each.start_ns, each.end_ns)])
    ]
    if not largest:
        return missing("no server stalled in any cluster")
    databases = seen.database_tiers
    from_there = sum(seen.tier(each.roots[0].server) in databases for each in largest)
    return share_of(from_there, len(largest), "clusters in which a server stalled")


def _waited(incident: Incident) -> int:
    return sum(each.total_ns for each in (*incident.roots, *incident.others))


def _dropped(seen: Seen) -> Measured:
    if (lack := unseen(seen)) is not None:
        return lack
    again = retransmitted(seen.observed.db, seen.span)
    hit = sum(
        any(touches(c, int(first), int(first) + 1) for first in again.first_ns)
        for c in seen.clusters
    )
    what = f"clusters, of {again.count} connection requests that were sent again"
    return share_of(hit, len(seen.clusters), what)


ALL_TIERS = Measure(
    "share of the clusters in which the queue of every tier grew beyond its normal",
    (queue_episodes,),
    _all_tiers,
)
FROM_DATABASE = Measure(
    "share of the clusters in whose largest incident the root was a database: its stall explains "
    "the others', tier by tier up to the users (push-back), and none explains it",
    (incidents,),
    _from_database,
)
DROPPED = Measure(
    "share of the clusters in which connection requests were dropped and sent again",
    (retransmitted,),
    _dropped,
)
