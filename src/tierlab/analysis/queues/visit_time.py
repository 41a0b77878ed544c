"""When was a server slow? The mean time of the visits that leave each server in each window."""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Floats, Ints, bounds, columns
from tierlab.analysis.served_from import STAY_NS
from tierlab.analysis.span import WINDOW_NS, Span


@dataclass(frozen=True)
class VisitTimes:
    """One value a window and server, in order: for how many seconds its visits were the server's,
    NaN where none left. ``start_ns`` are the windows' starts.
    """

    width_ns: int
    start_ns: Ints
    by_server: dict[str, Floats]

    @property
    def middle_ns(self) -> Ints:
        """The windows' middles, where a chart shows them."""
        return self.start_ns + self.width_ns // 2


def visit_times(db: Connection, span: Span, width_ns: int = WINDOW_NS) -> VisitTimes:
    """Compute every server's point-in-time visit time over the span; a server that no visit left
    is not there.
    """
    found = columns(
        db,
        f"""SELECT server, (departure_ns - $start) // $width AS slot,
            avg({STAY_NS}) / 1e9 AS mean
            FROM visits WHERE departure_ns {IN_SPAN} GROUP BY ALL""",
        {**bounds(span), "width": width_ns},
    )
    count, names = span.windows(width_ns), found["server"]
    by_server = {}
    for name in sorted(set(names)):
        mine = names == name
        means = np.full(count, np.nan)
        means[found["slot"][mine]] = found["mean"][mine]
        by_server[str(name)] = means
    start_ns = span.start_ns + width_ns * np.arange(count, dtype=np.int64)
    return VisitTimes(width_ns, start_ns, by_server)
