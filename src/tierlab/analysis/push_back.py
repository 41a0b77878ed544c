"""In which server did the queues begin to grow, and how did the growth climb to the users?

The push-back wave of J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud
Environments" (PhD thesis, Georgia Institute of Technology, 2016), section 4.3, figure 29: a slow
server's queue holds its caller's threads, so the caller's queue grows too, tier by tier. Onsets
alone cannot tell cause from effect when they lie within a millisecond; a queue's *own* part can:
visits in progress less those that only wait for a call of theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.in_progress import USERS, InProgress
from tierlab.analysis.normal_queue import normal_queue
from tierlab.analysis.query import Connection, Floats, Ints, bounds, columns
from tierlab.analysis.queue_episodes import QueueEpisode
from tierlab.analysis.result import Result
from tierlab.analysis.servers import tier_name
from tierlab.analysis.span import WINDOW_NS, Span
from tierlab.tables.manifest import Manifest

AHEAD_NS = 20_000_000
"""Onsets are known to about so much: one earlier by less is not counted as earlier."""

OWN_SHARE = 0.25


class Grown(Result):
    """One server's queue during a wave.

    ``grown_s`` is visit-seconds beyond normal, ``own_s`` the part in which no call was in progress
    and ``downstream_share`` the rest of it. ``lag_s`` is its onset after the origin's; None for a
    server whose queue stayed normal.
    """

    server: str
    depth: int
    onset_ns: int | None
    lag_s: float | None
    peak: int | None
    grown_s: float
    own_s: float
    downstream_share: float


class Wave(Result):
    """Queue episodes that overlap. ``origin`` is where it began: of the servers whose own queue
    grew by at least a quarter of the largest own growth, and no later than that one's, the furthest
    from the users. (A short queue at a pool's limit can hold a longer one before a full server.)
    ``first`` is the one whose episode began first, of those within 20 ms the furthest away.

    It ``climbed`` when every server between the origin and the users had an episode that did not
    begin before the origin's. ``servers`` are in order from downstream up.
    """

    start_ns: int
    end_ns: int
    origin: str
    first: str
    climbed: bool
    servers: list[Grown]


def tier_order(manifest: Manifest, progress: Mapping[str, InProgress]) -> list[list[str]]:
    """Return the servers with visits, tier by tier from the users on; last those that the manifest
    does not know.
    """
    topology = manifest.topology
    seen = {name: tier_name(name) for name in progress if name != USERS}
    tier_of = {**seen, **topology.tier_of}
    names = [*topology.tiers, *sorted(set(tier_of.values()) - set(topology.tiers))]
    tiers = [[n for n in sorted(progress) if tier_of.get(n) == tier] for tier in names]
    return [tier for tier in tiers if tier]


def calls_in_progress(db: Connection, span: Span) -> dict[str, InProgress]:
    """Return, by caller, the linked calls in progress: for tiers in which several servers call."""
    found = columns(
        db,
        """SELECT caller.server AS server, callee.arrival_ns, callee.departure_ns
            FROM visits AS callee JOIN visits AS caller ON callee.parent = caller.visit
            WHERE callee.departure_ns > $start AND callee.arrival_ns < $end""",
        bounds(span),
    )
    result = {}
    for name in sorted(set(found["server"])):
        mine = found["server"] == name
        result[str(name)] = InProgress(
            np.sort(found["arrival_ns"][mine]), np.sort(found["departure_ns"][mine])
        )
    return result


@dataclass(frozen=True)
class _Excess:
    """Each server's mean queue beyond normal, window by window."""

    edge_ns: Ints
    total: dict[str, Floats]
    own: dict[str, Floats]

    def seconds(self, server: str, start_ns: int, end_ns: int) -> tuple[float, float]:
        """Return grown and own visit-seconds of the windows that touch the stretch."""
        first = max(0, int(np.searchsorted(self.edge_ns, start_ns, side="right")) - 1)
        last = int(np.searchsorted(self.edge_ns, end_ns))
        width = np.diff(self.edge_ns)[first:last] / 1e9
        total, own = self.total[server][first:last] @ width, self.own[server][first:last] @ width
        return max(0.0, float(total)), max(0.0, float(own))


def waves(
    progress: Mapping[str, InProgress],
    tiers: Sequence[Sequence[str]],
    episodes: Sequence[QueueEpisode],
    span: Span,
    calls: Mapping[str, InProgress] | None = None,
) -> list[Wave]:
    """Join overlapping episodes into waves, in order of time.

    ``tiers`` are the servers from the users on. A server's calls in progress are ``calls`` of it,
    else all visits of the next tier when its own tier is but one server; where neither is known,
    the next tier's excess is divided among the callers like their own.
    """
    depth = {name: number for number, tier in enumerate(tiers) for name in tier}
    mine = [each for each in episodes if each.server in depth]
    count = span.duration_ns // WINDOW_NS
    if not mine or count < 2:
        return []
    edge_ns = span.start_ns + WINDOW_NS * np.arange(count + 1, dtype=np.int64)
    excess = _excess(progress, tiers, edge_ns, calls or {})
    mine.sort(key=lambda each: each.onset_ns)
    until = np.maximum.accumulate([each.end_ns for each in mine])
    starts = np.array([each.onset_ns for each in mine])
    breaks = np.flatnonzero(starts[1:] > until[:-1]) + 1
    groups = np.split(np.arange(len(mine)), breaks)
    return [_wave([mine[n] for n in group], depth, excess) for group in groups]


def _excess(
    progress: Mapping[str, InProgress],
    tiers: Sequence[Sequence[str]],
    edge_ns: Ints,
    calls: Mapping[str, InProgress],
) -> _Excess:
    total = {name: _beyond(progress[name], edge_ns) for tier in tiers for name in tier}
    own: dict[str, Floats] = {}
    for tier, below in zip(tiers, [*tiers[1:], []], strict=True):
        held = np.asarray(sum((total[name] for name in below), np.zeros(edge_ns.size - 1)))
        everyone = np.asarray(
            sum((np.maximum(total[name], 0) for name in tier), np.zeros_like(held))
        )
        for name in tier:
            if below and name in calls and len(tier) > 1:
                mine = _beyond(calls[name], edge_ns)
            elif len(tier) > 1:
                part = np.maximum(total[name], 0) / np.maximum(everyone, 1e-9)
                mine = held * part
            else:
                mine = held
            own[name] = total[name] - mine
    return _Excess(edge_ns, total, own)


def _beyond(progress: InProgress, edge_ns: Ints) -> Floats:
    queue = progress.mean(edge_ns)
    return queue - normal_queue(queue, progress.arrivals(edge_ns), WINDOW_NS).level


def _wave(episodes: list[QueueEpisode], depth: dict[str, int], excess: _Excess) -> Wave:
    start, end = episodes[0].onset_ns, max(each.end_ns for each in episodes)
    seconds = {name: excess.seconds(name, start, end) for name in depth}
    first_of: dict[str, QueueEpisode] = {}
    for each in episodes:
        first_of.setdefault(each.server, each)
    most = max(first_of, key=lambda name: seconds[name][1])
    origin = max(
        (
            name
            for name, each in first_of.items()
            if seconds[name][1] >= OWN_SHARE * seconds[most][1]
            and each.onset_ns <= first_of[most].onset_ns + AHEAD_NS
        ),
        key=lambda name: (depth[name], seconds[name][1]),
    )
    onset = first_of[origin].onset_ns
    earliest = [each for each in first_of.values() if each.onset_ns <= start + AHEAD_NS]
    above = [name for name in depth if depth[name] < depth[origin]]
    climbed = all(
        name in first_of and first_of[name].onset_ns >= onset - AHEAD_NS for name in above
    )
    grown = []
    for name in sorted(depth, key=lambda name: (-depth[name], name)):
        mine = first_of.get(name)
        total, own = seconds[name]
        grown.append(
            Grown(
                server=name,
                depth=depth[name],
                onset_ns=mine.onset_ns if mine else None,
                lag_s=(mine.onset_ns - onset) / 1e9 if mine else None,
                peak=max((e.peak for e in episodes if e.server == name), default=None),
                grown_s=total,
                own_s=own,
                downstream_share=max(0.0, 1 - own / total) if total > 0 else 0.0,
            )
        )
    return Wave(
        start_ns=start,
        end_ns=end,
        origin=origin,
        first=max(earliest, key=lambda each: depth[each.server]).server,
        climbed=climbed,
        servers=grown,
    )
