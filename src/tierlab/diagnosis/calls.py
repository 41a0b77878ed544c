"""How long do a server's calls take, against the usual? Who fills its pool is told by that.

By Little's law (J. Little, "A Proof for the Queuing Formula: L = λW", Operations Research, 1961) as
many are in progress as end in a second times how long each takes. So no call need be followed, and
those that have not ended by then count, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.queues.in_progress import InProgress
from tierlab.analysis.span import Span
from tierlab.diagnosis.arrivals import BIN_NS, QUIET_NS
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.signals import Stretches

MOST_BINS = 200
"""Half a minute all together, from all over the run, says what is usual."""


@dataclass(frozen=True)
class Calls:
    """What is in progress at the servers that a server calls, and how long one usually is there, in
    seconds; None where too little time was quiet, or none ended in it.
    """

    called: Sequence[InProgress]
    usual_s: float | None

    def in_progress(self, window: Window) -> float:
        """Return how many are, on average."""
        edges = np.array([window.start_ns, window.end_ns], dtype=np.int64)
        return float(sum(each.mean(edges)[0] for each in self.called))

    def times_longer(self, window: Window) -> float | None:
        """Return how many times as long as usual they take in a window, at least; None where that
        is not known.
        """
        if not self.usual_s:
            return None
        edges = np.array([window.start_ns, window.end_ns], dtype=np.int64)
        ended = sum(int(each.departures(edges)[0]) for each in self.called)
        return self.in_progress(window) * window.duration_s / max(1, ended) / self.usual_s


def calls(called: Sequence[InProgress], span: Span, stalled: Stretches) -> Calls:
    """Return the calls to these servers; what is usual is that of the span's quiet time."""
    edges = np.arange(span.start_ns, span.end_ns + 1, BIN_NS, dtype=np.int64)
    quiet = np.flatnonzero(~stalled.touch(edges[:-1], edges[1:]))
    if quiet.size * BIN_NS < QUIET_NS:
        return Calls(called, None)
    parts = [edges[at : at + 2] for at in quiet[:: -(-quiet.size // MOST_BINS)].tolist()]
    ended = sum(int(each.departures(part)[0]) for each in called for part in parts)
    there = sum(float(each.mean(part)[0]) for each in called for part in parts)
    return Calls(called, there * BIN_NS / 1e9 / ended if ended else None)
