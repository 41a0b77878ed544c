"""When was it slow? The mean response time of the requests that end in each window."""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Floats, Ints, bounds, columns
from tierlab.analysis.requests.responses import RESPONSE_NS
from tierlab.analysis.span import WINDOW_NS, Span


@dataclass(frozen=True)
class PointInTime:
    """One value a window, in order.

    ``start_ns`` are the windows' starts, ``mean_s`` is NaN where no request ended, ``ended`` says
    how many did (failed ones too: their users waited as well).
    """

    width_ns: int
    start_ns: Ints
    mean_s: Floats
    ended: Ints

    @property
    def middle_ns(self) -> Ints:
        """The windows' middles, where a chart shows them."""
        return self.start_ns + self.width_ns // 2


def point_in_time(db: Connection, span: Span, width_ns: int = WINDOW_NS) -> PointInTime:
    """Compute the point-in-time response time over the span (Q. Wang et al., "Detecting Transient
    Bottlenecks in n-Tier Applications through Fine-Grained Analysis", ICDCS 2013).
    """
    found = columns(
        db,
        f"""SELECT (end_ns - $start) // $width AS slot, count(*) AS ended,
            avg({RESPONSE_NS}) AS mean FROM requests WHERE end_ns {IN_SPAN} GROUP BY slot""",
        {**bounds(span), "width": width_ns},
    )
    count = span.windows(width_ns)
    mean_s, ended = np.full(count, np.nan), np.zeros(count, dtype=np.int64)
    mean_s[found["slot"]] = found["mean"] / 1e9
    ended[found["slot"]] = found["ended"]
    start_ns = span.start_ns + width_ns * np.arange(count, dtype=np.int64)
    return PointInTime(width_ns, start_ns, mean_s, ended)
