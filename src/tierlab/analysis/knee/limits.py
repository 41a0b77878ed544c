"""How near a step comes to those limits of a benchmark's rules that depend on the load.

They are the percentile of each operation's response time, the mean delays between operations, which
a late driver or a user who waited too long lengthens, and users over throughput. The shares of the
mix and what pages hold are the same at any load: a whole run judges them, not a step of seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tierlab.analysis.comparing.blocks import BINS, bin_of, middle_s
from tierlab.analysis.query import IN_SPAN, Connection, Floats, bounds, columns
from tierlab.analysis.requests.responses import FAILED
from tierlab.analysis.span import Span
from tierlab.tables.rules import RunRules

Counts = npt.NDArray[np.uint16]

_WINDOWED = """SELECT (end_ns - $start) // {width} AS part, interaction,
    (end_ns - start_ns) / 1e9 AS time_s, {failed} AS failed,
    (start_ns - since_ns) / 1e9 AS waited_s,
    CASE WHEN since_ns IS NOT NULL THEN delay_ns / 1e9 END AS drawn_s, before
    FROM (SELECT *, lag({since}) OVER own AS since_ns, lag(interaction) OVER own AS before
        FROM requests WINDOW own AS (PARTITION BY "user" ORDER BY start_ns))
    WHERE end_ns {in_span}"""


@dataclass(frozen=True)
class Limits:
    """A step of a benchmark with rules: every array's first axis is the step's windows."""

    rules: RunRules
    users: float | None
    """None in an open loop, which keeps no bound on users over throughput."""
    seconds: float
    times: Mapping[str, Counts]
    """Successful operations by response time, of each operation: shape (windows, BINS)."""
    waited_s: Mapping[str, Floats]
    """Delays after each operation, added up, where they were drawn."""
    drawn_s: Mapping[str, Floats]
    """The same as they were drawn."""

    def used(self, drawn: Floats) -> Floats:
        """The largest part of a limit that is used, with each window drawn so often: shape (draws).
        One is all of it.
        """
        parts = [
            *(self._time(name, drawn) for name in self.times),
            *(self._delay(name, drawn) for name in self.drawn_s),
        ]
        if self.users is not None and self.rules.most_users_per_rate is not None:
            done = sum(drawn @ each.sum(axis=1) for each in self.times.values())
            with np.errstate(divide="ignore"):
                parts.append(self.users * self.seconds / done / self.rules.most_users_per_rate)
        most: Floats = np.max(parts, axis=0)
        return most

    def _time(self, name: str, drawn: Floats) -> Floats:
        """The time that most operations take, as a part of their limit; of none there is none."""
        seen = self.times[name]
        bins = np.flatnonzero(seen.any(axis=0))
        if not bins.size:
            return np.zeros(drawn.shape[0])
        reached = np.cumsum(drawn @ seen[:, bins], axis=1)
        place = np.argmax(reached >= self.rules.percentile * reached[:, -1:], axis=1)
        part = middle_s(bins[place].astype(np.float64)) / (
            self.rules.operations[name].limit_ns / 1e9
        )
        return np.where(reached[:, -1] > 0, part, 0.0)

    def _delay(self, name: str, drawn: Floats) -> Floats:
        waited, wanted = drawn @ self.waited_s[name], drawn @ self.drawn_s[name]
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.abs(waited / wanted - 1) / self.rules.delay_deviation
        return np.where(wanted > 0, off, 0.0)


def limits(
    db: Connection, span: Span, width_ns: int, rules: RunRules, users: float | None
) -> Limits:
    """Return how a span of whole windows, at so many users, stands to the rules."""
    count = span.windows(width_ns)
    since = {"start": "start_ns", "end": "end_ns"}[rules.delay_from]
    sql = _WINDOWED.format(width=width_ns, failed=FAILED, since=since, in_span=IN_SPAN)
    found = columns(db, sql, bounds(span))
    part, name, before = found["part"].astype(np.int64), found["interaction"], found["before"]
    good = ~found["failed"].astype(bool)
    bins = bin_of(found["time_s"].astype(np.float64))
    drawn, waited = (found[key].astype(np.float64) for key in ("drawn_s", "waited_s"))
    kept = np.isfinite(drawn)

    def times(operation: str) -> Counts:
        mine = good & (name == operation)
        cells = part[mine] * BINS + bins[mine]
        return np.bincount(cells, minlength=count * BINS).reshape(count, BINS).astype(np.uint16)

    def sums(operation: str, of: Floats) -> Floats:
        mine = kept & (before == operation)
        return np.bincount(part[mine], of[mine], minlength=count).astype(np.float64)

    return Limits(
        rules=rules,
        users=users,
        seconds=span.seconds,
        times={operation: times(operation) for operation in rules.operations},
        waited_s={operation: sums(operation, waited) for operation in rules.operations},
        drawn_s={operation: sums(operation, drawn) for operation in rules.operations},
    )
