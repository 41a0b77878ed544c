"""Which functions had more of the CPUs in a finding's windows than in the rest of the run? Only a
run with a profile tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.resources.event_rates import IDLE
from tierlab.analysis.span import Span
from tierlab.diagnosis.finding import BusyFunction, Window

CPU_EVENTS = ("cycles", "cpu-clock")
"""Events whose samples tell what a CPU was at, the better one first."""
MOST = 3
"""So many functions are told."""

LEAST_SHARE = 0.1
"""Of the windows' samples: what has less made nobody wait."""

BY_CHANCE = 0.01
"""Of all functions together: a share that chance brings as seldom has risen."""


@dataclass(frozen=True)
class Profiled:
    """The samples of a run's CPUs."""

    db: Connection
    span: Span

    def busier(self, windows: Sequence[Window]) -> list[BusyFunction]:
        """Return the functions that were at work in the windows more often than otherwise, beyond
        chance (both rates compared by the exact binomial test of two Poisson counts:
        J. Przyborowski and H. Wilenski, Biometrika 31, 1940; corrected for the number of
        functions), the largest first; none without a profile.
        """
        found = self._counts(windows)
        inside, outside = (sum(each[side] for each in found) for side in ("inside", "outside"))
        length_ns = sum(each.end_ns - each.start_ns for each in windows)
        if not inside or not outside or not 0 < length_ns < self.span.duration_ns:
            return []
        from scipy.stats import binomtest  # takes most of a second to load

        part = length_ns / self.span.duration_ns
        risen = []
        for each in found:
            share = each["inside"] / inside
            if share < LEAST_SHARE or (each["symbol"] is None and each["binary"] is None):
                continue
            both = each["inside"] + each["outside"]
            chance = binomtest(each["inside"], both, part, alternative="greater").pvalue
            if chance * len(found) < BY_CHANCE:
                risen.append(
                    BusyFunction(
                        domain=each["domain"],
                        binary=each["binary"],
                        symbol=each["symbol"],
                        samples=each["inside"],
                        share=share,
                        usual_share=each["outside"] / outside,
                    )
                )
        return sorted(risen, key=lambda each: each.usual_share - each.share)[:MOST]

    def _counts(self, windows: Sequence[Window]) -> list[dict[str, Any]]:
        """By function, its samples inside and outside of the windows."""
        within = " OR ".join(f"t_ns BETWEEN {w.start_ns} AND {w.end_ns - 1}" for w in windows)
        of = "event = $event AND dt_ns = 0"
        for event in CPU_EVENTS:
            found = rows(
                self.db,
                f"""SELECT domain, "binary", symbol, count(*) FILTER (WHERE {within}) AS inside,
                        count(*) FILTER (WHERE NOT ({within})) AS outside
                    FROM counters WHERE t_ns {IN_SPAN} AND domain <> '{IDLE}' AND {of}
                    GROUP BY ALL""",
                {**bounds(self.span), "event": event},
            )
            if found:
                return found
        return []
