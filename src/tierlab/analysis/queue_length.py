"""How many visits were in progress at each server, window by window, exactly?"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tierlab.analysis.query import Connection, Floats, Ints, bounds, columns
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


def queue_lengths(db: Connection, span: Span, width_ns: int = WINDOW_NS) -> QueueLengths:
    """Compute every server's queue length over the span.

    An arrival at offset ``o`` into a window of width ``w`` adds ``w - o`` to that window's integral
    of the queue length and ``w`` to each later one; a departure takes the same away. So two sums a
    window, made by the database in one pass, give the integral exactly, however many visits.
    A visit without a departure counts as long as :mod:`tierlab.analysis.unfinished` holds it.
    """
    steps = columns(
        db,
        """WITH stays AS (
            SELECT server, arrival_ns, departure_ns FROM visits WHERE departure_ns IS NOT NULL
            UNION ALL FROM held
        ), clipped AS (
            SELECT server, greatest(arrival_ns - $start, 0) AS arrival,
                least(departure_ns, $end) - $start AS departure
            FROM stays WHERE arrival_ns < $end AND departure_ns > $start
        ), steps AS (
            SELECT server, arrival AS t, 1 AS step FROM clipped
            UNION ALL SELECT server, departure, -1 FROM clipped
        ) SELECT server, t // $width AS slot, sum(step)::BIGINT AS net,
            sum(step * ($width - t % $width))::BIGINT AS inside
        FROM steps GROUP BY ALL""",
        {**bounds(span), "width": width_ns},
    )
    count = span.windows(width_ns)
    start_ns = span.start_ns + width_ns * np.arange(count, dtype=np.int64)
    lengths = np.minimum(width_ns, span.end_ns - start_ns)
    names = steps["server"]
    return QueueLengths(
        width_ns,
        start_ns,
        {
            str(name): _integrate(steps, names == name, count, width_ns) / lengths
            for name in sorted(set(names))
        },
    )


def _integrate(
    steps: dict[str, npt.NDArray[np.int64]],
    chosen: npt.NDArray[np.bool_],
    count: int,
    width_ns: int,
) -> Ints:
    """Return one server's integral of the queue length per window, in visit-nanoseconds."""
    net, inside = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    slot = steps["slot"][chosen]
    net[slot] = steps["net"][chosen]
    inside[slot] = steps["inside"][chosen]
    before = np.cumsum(net) - net
    return (inside + width_ns * before)[:count]
