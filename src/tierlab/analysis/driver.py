"""Was the driver itself the bottleneck?"""

import numpy as np

from tierlab.analysis import distribution
from tierlab.analysis.distribution import Distribution
from tierlab.analysis.query import IN_SPAN, Connection, Floats, Ints, bounds, columns, row
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

CPU_LIMIT = 0.85
"""Of one core, as the driver itself judges."""

LAG_LIMIT_S = 0.005
"""A driver that sends one request in a hundred later than this shapes the load itself."""

OWN_LIMIT = "regexp_full_match(error, '(image_)?no_(descriptors|address)')"
"""A request that failed at a limit of the driver's own, as SQL."""


class Driver(Result):
    """The driver's lag (from the moment a user meant to send to the actual send) and its cost.

    ``cpu_share`` is its CPU time in the span as a share of one core; ``reason`` says why
    it ``was_bottleneck``.
    """

    lag: Distribution
    cpu_share: float | None
    was_bottleneck: bool
    reason: str | None


def driver(db: Connection, span: Span, cpu_ns: int | None, trial_ns: int) -> Driver | None:
    """Judge the driver over the requests sent in the span; None when there were none.

    ``cpu_ns`` is what it used over the whole trial of ``trial_ns``, which counts only where its
    records of each second are missing: a quiet ramp-up would hide a busy runtime.
    """
    lag = distribution.from_row(
        row(
            db,
            f"""SELECT {distribution.aggregates("(start_ns - intended_ns)")}
                FROM requests WHERE start_ns {IN_SPAN}""",
            bounds(span),
        )
    )
    if lag is None:
        return None
    unopened: int = row(
        db,
        f"SELECT count(*) AS count FROM requests WHERE {OWN_LIMIT} AND start_ns {IN_SPAN}",
        bounds(span),
    )["count"]
    cpu_share = recorded_cpu_share(db, span)
    if cpu_share is None and cpu_ns is not None and trial_ns > 0:
        cpu_share = cpu_ns / trial_ns
    reason = None
    if lag.p99_s > LAG_LIMIT_S:
        reason = f"1 request in 100 was sent more than {lag.p99_s * 1e3:.1f} ms late"
    elif cpu_share is not None and cpu_share > CPU_LIMIT:
        reason = f"it used {cpu_share:.0%} of the one core it can use"
    elif unopened:
        reason = f"it could not open {unopened:,} connections for lack of descriptors or addresses"
    return Driver(lag=lag, cpu_share=cpu_share, was_bottleneck=reason is not None, reason=reason)


def recorded_cpu_share(db: Connection, span: Span) -> float | None:
    """Return the driver's share of a core over its own records that lie in the span; None when
    there are none.
    """
    found = row(
        db,
        """SELECT sum(cpu_ns) / sum(duration_ns) AS share FROM (
            SELECT t_ns, duration_ns, CASE WHEN json_valid(detail)
                THEN TRY_CAST(detail ->> 'cpu_ns' AS BIGINT) END AS cpu_ns
            FROM events WHERE kind = 'driver_lag'
        ) WHERE cpu_ns IS NOT NULL AND duration_ns > 0
            AND t_ns >= $start AND t_ns + duration_ns <= $end""",
        bounds(span),
    )
    share: float | None = found["share"]
    return share


def lag_over_time(db: Connection, span: Span, width_ns: int) -> tuple[Ints, Floats]:
    """Return the windows' middles and the longest lag in seconds of the requests sent in each; NaN
    where none was.
    """
    found = columns(
        db,
        f"""SELECT (start_ns - $start) // $width AS slot, max(start_ns - intended_ns) / 1e9 AS lag
            FROM requests WHERE start_ns {IN_SPAN} GROUP BY slot""",
        {**bounds(span), "width": width_ns},
    )
    longest = np.full(span.windows(width_ns), np.nan)
    longest[found["slot"]] = found["lag"]
    middles = span.start_ns + width_ns * np.arange(longest.size, dtype=np.int64) + width_ns // 2
    return middles, longest
