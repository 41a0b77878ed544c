"""Was the driver itself the bottleneck?"""

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Floats, Ints, bounds, columns, row
from tierlab.analysis.requests import distribution
from tierlab.analysis.requests.distribution import Distribution
from tierlab.analysis.requests.responses import RESPONSE_NS
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

CPU_LIMIT = 0.85
"""Of one core, as the driver itself judges."""

LAG_LIMIT_S = 0.005
"""A driver that sends one request in a hundred later than this shapes the load itself."""

LAG_SHARE = 0.01
"""Of the mean response time: of what takes seconds, less lag than this is nothing."""

LATE_SHARE, FEWEST_LATE = 0.01, 2
"""How many requests are so late, of all and at least: one alone may be any program's."""

COVERED = 0.98
"""Share of a span that the driver's records must lie over for its CPU time there to be known."""

_RECORDS = """SELECT * FROM (
    SELECT subject, t_ns AS start_ns, t_ns + duration_ns AS end_ns, duration_ns,
        CASE WHEN json_valid(detail)
        THEN TRY_CAST(detail ->> 'cpu_ns' AS BIGINT) END AS cpu_ns, CASE WHEN json_valid(detail)
        THEN TRY_CAST(detail ->> 'busiest_thread_cpu_ns' AS BIGINT) END AS thread_cpu_ns
    FROM events WHERE kind = 'driver_lag') WHERE cpu_ns IS NOT NULL AND duration_ns > 0"""
"""The driver's record of each second that says its CPU time, as SQL; of several systems each has a
driver, which is the subject. Older records say nothing of the busiest thread."""

OWN_LIMIT = "regexp_full_match(error, '(image_|static_)?no_(descriptors|address)')"
"""A request that failed at a limit of the driver's own, as SQL."""


class Driver(Result):
    """The driver's lag (from the moment a user meant to send to the actual send) and its cost.

    ``cpu_share`` is its CPU time in the span as a share of one core, of all its threads;
    ``reason`` says why it ``was_bottleneck``.
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
    sent = row(
        db,
        f"""SELECT {distribution.aggregates("(start_ns - intended_ns)")},
                avg({RESPONSE_NS}) / 1e9 AS response_s,
                count(*) FILTER (WHERE {OWN_LIMIT}) AS unopened
            FROM requests WHERE start_ns {IN_SPAN}""",
        bounds(span),
    )
    lag, unopened = distribution.from_row(sent), sent["unopened"]
    if lag is None:
        return None
    limit_s = max(LAG_LIMIT_S, LAG_SHARE * sent["response_s"])
    late = _later(db, span, limit_s)
    cpu_share = recorded_cpu_share(db, span)
    if cpu_share is None and cpu_ns is not None and trial_ns > 0:
        cpu_share = cpu_ns / trial_ns
    reason = None
    if late >= max(FEWEST_LATE, LATE_SHARE * lag.count):
        sent_late = f"{late:,} of {lag.count:,} requests were sent more than"
        reason = f"{sent_late} {limit_s * 1e3:.0f} ms late"
    elif (busiest := _busiest_thread_share(db, span) or cpu_share or 0.0) > CPU_LIMIT:
        reason = f"it used {busiest:.0%} of the one core that a thread of it can use"
    elif unopened:
        reason = f"it could not open {unopened:,} connections for lack of descriptors or addresses"
    return Driver(lag=lag, cpu_share=cpu_share, was_bottleneck=reason is not None, reason=reason)


def _later(db: Connection, span: Span, limit_s: float) -> int:
    """How many requests were sent later than that."""
    found: int = row(
        db,
        f"""SELECT count(*) AS count FROM requests
            WHERE start_ns {IN_SPAN} AND start_ns - intended_ns > $limit""",
        {**bounds(span), "limit": round(limit_s * 1e9)},
    )["count"]
    return found


def recorded_cpu_share(db: Connection, span: Span) -> float | None:
    """Return the drivers' share of a core over their own records that lie in the span; None when
    there are none.
    """
    found = row(
        db,
        f"""SELECT sum(share) AS share FROM (
            SELECT sum(cpu_ns) / sum(duration_ns) AS share FROM ({_RECORDS})
            WHERE start_ns >= $start AND end_ns <= $end GROUP BY subject)""",
        bounds(span),
    )
    share: float | None = found["share"]
    return share


def _busiest_thread_share(db: Connection, span: Span) -> float | None:
    """Return the share of a core that the busiest thread used, second by second, of the driver
    whose is larger; None when its records do not say.
    """
    found = row(
        db,
        f"""SELECT max(share) AS share FROM (
            SELECT sum(thread_cpu_ns) / sum(duration_ns) AS share FROM ({_RECORDS})
            WHERE thread_cpu_ns IS NOT NULL AND start_ns >= $start AND end_ns <= $end
            GROUP BY subject)""",
        bounds(span),
    )
    share: float | None = found["share"]
    return share


def cpu_by_block(db: Connection, span: Span, blocks: int) -> Floats | None:
    """Return the driver's CPU seconds in each of so many equal parts of the span, even within each
    of its records; None unless they cover the span.
    """
    found = columns(
        db,
        f"""SELECT start_ns - $start AS start_ns, end_ns - $start AS end_ns, cpu_ns
            FROM ({_RECORDS}) WHERE end_ns > $start AND start_ns < $end ORDER BY end_ns""",
        bounds(span),
    )
    starts, ends = (found[name].astype(np.float64) for name in ("start_ns", "end_ns"))
    covered = np.minimum(ends, span.duration_ns) - np.maximum(starts, 0)
    if covered.sum() < COVERED * span.duration_ns:
        return None
    spent = np.cumsum(found["cpu_ns"].astype(np.float64))
    edges = np.linspace(0, span.duration_ns, blocks + 1)
    until = np.interp(edges, [starts[0], *ends], [0.0, *spent])
    by_block: Floats = np.diff(until) / 1e9
    return by_block


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
