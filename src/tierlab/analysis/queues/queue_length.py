"""How many visits were in progress at each server, window by window, exactly?"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Floats, Ints
from tierlab.analysis.queues.in_progress import InProgress
from tierlab.analysis.span import WINDOW_NS, Span


@dataclass(frozen=True)
class QueueLengths:
    """The time-weighted mean number of visits in progress, one value a window and server.

    ``start_ns`` are the windows' starts; a last window that the span cuts short is averaged over
    its own length.
    """

    width_ns: int
    start_ns: Ints
    by_server: dict[str, Floats]

    @property
    def middle_ns(self) -> Ints:
        """The windows' middles, where a chart shows them."""
        return self.start_ns + self.width_ns // 2

    def peak(self, server: str, span: Span) -> float | None:
        """Return a server's highest value among the windows that lie in the span."""
        lengths = self.by_server.get(server)
        if lengths is None:
            return None
        end_ns = self.start_ns + self.width_ns
        inside = lengths[(self.start_ns >= span.start_ns) & (end_ns <= span.end_ns)]
        return float(inside.max()) if inside.size else None


def queue_lengths(
    progress: Mapping[str, InProgress], span: Span, width_ns: int = WINDOW_NS
) -> QueueLengths:
    """Compute every server's queue length over the span from its arrivals and departures, exactly,
    however many visits. A server that nobody visited in the span is not there.
    """
    start_ns = span.start_ns + width_ns * np.arange(span.windows(width_ns), dtype=np.int64)
    edge_ns = np.append(start_ns, span.end_ns)
    return QueueLengths(
        width_ns,
        start_ns,
        {name: progress[name].mean(edge_ns) for name in sorted(progress)},
    )
