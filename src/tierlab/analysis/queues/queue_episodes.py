"""When did a server's queue grow beyond this run's own normal, from which instant, and how far?

The queue episodes of J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud
Environments" (PhD thesis, Georgia Institute of Technology, 2016), section 4.3, figure 29 (requests
queued at each tier, every 50 ms), and of Q. Wang et al., "Detecting Transient Bottlenecks in n-Tier
Applications through Fine-Grained Analysis" (ICDCS 2013). Windows say that there was one; the
messages' own times say from when: the onset lies between the last departure of normal service and
when the next one was due.
"""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Bools, Floats, Ints
from tierlab.analysis.queues.busy_gaps import STILL_NS, BusyGaps, busy_gaps, longest_usual
from tierlab.analysis.queues.in_progress import InProgress
from tierlab.analysis.queues.normal_queue import Normal, normal_queue
from tierlab.analysis.result import Result
from tierlab.analysis.span import WINDOW_NS, Span
from tierlab.analysis.statistics.stretches import stretches

DEVIATIONS = 8.0
"""How many robust standard deviations above normal a window is abnormal. A queue's tail is an
exponential, not a normal one: 1 of 4,000 windows of M/M/1 is so high by chance."""

LEAST = 2.0
"""A queue less than so many visits above normal is no episode."""

CALM_NS = 20_000_000
"""A queue that was in its normal range for so long was not yet growing: shorter dips may be."""

_SEARCH_NS = 2_000_000_000
"""How far before the first abnormal window the onset is sought."""


class QueueEpisode(Result):
    """One server's queue from its ``onset_ns`` until it was ``end_ns`` drained again.

    The onset lies in ``onset_early_ns`` to ``onset_late_ns``. ``peak`` is the highest number in
    progress, at ``peak_ns``; ``normal`` is what was usual at that load and ``height`` how many
    robust standard deviations above it the highest window was. ``departures`` were counted and
    ``expected`` at the usual rate; ``still_ns`` is the longest time without a departure although
    visits were in progress: a ``frozen`` server lets none go for most of the rise. ``waited_s`` is
    the time that visits spent there beyond normal, all together.
    """

    server: str
    onset_ns: int
    onset_early_ns: int
    onset_late_ns: int
    peak_ns: int
    end_ns: int
    peak: int
    normal: float
    height: float
    departures: int
    expected: float
    still_ns: int
    still_start_ns: int
    waited_s: float

    @property
    def frozen(self) -> bool:
        """Whether most of the rise passed without a departure."""
        return self.still_ns >= max(STILL_NS, (self.peak_ns - self.onset_ns) // 2)


def queue_episodes(
    progress: dict[str, InProgress], span: Span, width_ns: int = WINDOW_NS
) -> list[QueueEpisode]:
    """Find every server's episodes in the span, by onset. ``progress`` is what
    :func:`tierlab.analysis.queues.in_progress.visits_in_progress` returns.
    """
    count = span.duration_ns // width_ns
    if count < 2:
        return []
    edge_ns = span.start_ns + width_ns * np.arange(count + 1, dtype=np.int64)
    found = [
        episode
        for server, mine in progress.items()
        for episode in _episodes(server, mine, edge_ns, width_ns)
    ]
    return sorted(found, key=lambda each: (each.onset_ns, each.server))


def _episodes(
    server: str, progress: InProgress, edge_ns: Ints, width_ns: int
) -> list[QueueEpisode]:
    queue = progress.mean(edge_ns)
    normal = normal_queue(queue, progress.arrivals(edge_ns), width_ns)
    gaps = busy_gaps(progress)
    seen = _Seen(progress, gaps, edge_ns, queue, normal)
    margin = np.maximum(LEAST, DEVIATIONS * normal.deviation)
    tall = queue > normal.level + margin
    high = tall | _still(gaps, longest_usual(progress, gaps), edge_ns)
    raised = high | (queue > normal.level + margin / 2)
    result: list[QueueEpisode] = []
    for first, last in _raised(high, raised):
        stretch = _Stretch(first, last, bool(tall[first : last + 1].any()))
        episode = _episode(server, seen, stretch)
        if result and episode.onset_ns < result[-1].end_ns:
            continue  # still the same queue: it drained only after the later window
        result.append(episode)
    return result


def _still(gaps: BusyGaps, limit_ns: float, edge_ns: Ints) -> Bools:
    """Mark the windows that a longer time without a departure touches."""
    long = gaps.end_ns - gaps.start_ns > limit_ns
    long &= (gaps.end_ns > edge_ns[0]) & (gaps.start_ns < edge_ns[-1])
    first = np.searchsorted(edge_ns, gaps.start_ns[long], side="right") - 1
    last = np.searchsorted(edge_ns, gaps.end_ns[long], side="left")
    touched = np.zeros(edge_ns.size, dtype=np.int64)
    np.add.at(touched, np.maximum(first, 0), 1)
    np.add.at(touched, np.minimum(last, edge_ns.size - 1), -1)
    return np.asarray(np.cumsum(touched)[:-1] > 0)


def _raised(high: Bools, raised: Bools) -> list[tuple[int, int]]:
    """Return first and last window of each stretch of raised windows that holds a high one."""
    starts, ends = stretches(raised).T
    highs = np.cumsum(np.concatenate([[0], high]))
    keep = highs[ends] > highs[starts]
    return [(int(a), int(b) - 1) for a, b in zip(starts[keep], ends[keep], strict=True)]


@dataclass(frozen=True)
class _Seen:
    """What is known of one server, instant by instant and window by window."""

    progress: InProgress
    gaps: BusyGaps
    edge_ns: Ints
    queue: Floats
    normal: Normal


@dataclass(frozen=True)
class _Stretch:
    """Windows ``first`` to ``last``; not ``tall`` when no queue, but one long gap, made it one."""

    first: int
    last: int
    tall: bool


def _episode(server: str, seen: _Seen, stretch: _Stretch) -> QueueEpisode:
    progress, gaps, normal, edge_ns = seen.progress, seen.gaps, seen.normal, seen.edge_ns
    first, until = stretch.first, stretch.last
    level, deviation, rate = (
        float(each[first]) for each in (normal.level, normal.deviation, normal.rate)
    )
    floor = max(1, int(np.ceil(level + deviation)))
    start_ns, stop_ns = int(edge_ns[first]), int(edge_ns[until + 1])
    if not stretch.tall:
        length, start_ns = gaps.longest(start_ns, stop_ns)
        stop_ns = start_ns + length
    t_ns, number = progress.steps(start_ns - _SEARCH_NS, stop_ns)
    top = int(np.searchsorted(t_ns, start_ns))
    top = min(top, t_ns.size - 1)
    top += int(number[top:].argmax())
    peak_ns = int(t_ns[top])
    calm = number[: top + 1] <= floor
    last, lasting = _left_calm(t_ns[: top + 1], calm)
    still_ns, _ = gaps.longest(last, peak_ns)
    rose = last if 2 * still_ns >= peak_ns - last else lasting
    if not stretch.tall:
        rose = min(rose, start_ns)
    early, late = _onset(progress, rose, rate, level)
    end_ns = (
        _drained(progress, max(int(edge_ns[until]), peak_ns), floor) if stretch.tall else stop_ns
    )
    onset = (early + late) // 2
    still_ns, still_start_ns = gaps.longest(early, end_ns)
    edges = np.array([onset, max(end_ns, onset + 1)])
    seconds = (edges[1] - edges[0]) / 1e9
    return QueueEpisode(
        server=server,
        onset_ns=onset,
        onset_early_ns=early,
        onset_late_ns=late,
        peak_ns=max(peak_ns, onset),
        end_ns=int(edges[1]),
        peak=int(number[top]),
        normal=level,
        height=_height(seen.queue[first : until + 1], level, deviation),
        departures=int(progress.departures(edges)[0]),
        expected=rate * seconds,
        still_ns=still_ns,
        still_start_ns=still_start_ns,
        waited_s=max(0.0, (float(progress.mean(edges)[0]) - level) * seconds),
    )


def _height(queue: Floats, level: float, deviation: float) -> float:
    """Return the highest window above normal in deviations; one is at least that of a Poisson
    number, which visits that do not wait for each other have.
    """
    return float((queue.max() - level) / max(deviation, np.sqrt(max(level, 0.25))))


def _left_calm(t_ns: Ints, calm: Bools) -> tuple[int, int]:
    """Return when the queue last left its normal range, and when it last did so after a calm of
    some length. A stopped server's queue only grows; a slow one's now and then dips.
    """
    starts, ends = stretches(calm).T
    if not starts.size:
        return int(t_ns[0]), int(t_ns[0])
    ended = t_ns[np.minimum(ends, t_ns.size - 1)]
    long = np.flatnonzero(ended - t_ns[starts] >= CALM_NS)
    return int(ended[-1]), int(ended[long[-1]] if long.size else ended[-1])


def _onset(progress: InProgress, rose_ns: int, rate: float, level: float) -> tuple[int, int]:
    """Return the earliest and the latest instant at which normal service may have ended.

    ``rose_ns`` is when the queue left its normal range for good, or when a single visit that was
    kept waiting was left alone. Service ended after the last departure before it, and before the
    oldest visit then in progress was due to leave, by Little's law after ``level / rate``. A server
    that nobody asked meanwhile shows nothing: twice the usual time between arrivals is as far back
    as its idleness is taken for a part of it.
    """
    left, came = progress.departure_ns, progress.arrival_ns
    index = int(np.searchsorted(left, rose_ns, side="right")) - 1
    oldest = int(came[min(index + 1, came.size - 1)])
    usual_ns, between_ns = (level / rate * 1e9, 1e9 / rate) if rate else (0.0, 0.0)
    early = max(int(left[index]) if index >= 0 else 0, oldest - int(2 * between_ns))
    early = min(early, rose_ns)
    return early, max(early, min(oldest + int(usual_ns), rose_ns))


def _drained(progress: InProgress, from_ns: int, floor: int) -> int:
    """Return the first instant from there on at which the queue was back in its normal range."""
    reach = _SEARCH_NS
    last = int(progress.departure_ns[-1])
    while True:
        t_ns, number = progress.steps(from_ns, from_ns + reach)
        low = np.flatnonzero(number <= floor)
        if low.size:
            return int(t_ns[low[0]])
        if from_ns + reach > last:
            return max(last, from_ns)
        reach *= 4
