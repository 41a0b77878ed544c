"""How do visits usually come to a server: how many a second, and how unevenly?"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Ints
from tierlab.analysis.span import Span
from tierlab.diagnosis.signals import Stretches

BIN_NS = 150_000_000
"""What comes at random is counted in times so long: of 20 requests a second three."""

QUIET_NS = 1_000_000_000
"""Less quiet time says little: then the run's quieter nine tenths are taken."""

QUIETER = 0.9
"""Of all times: surges come in the rest."""


@dataclass(frozen=True)
class Arrivals:
    """Visits of a kind that come to the first server: when, how many usually do in a second (the
    mean of the run's quieter nine tenths), and the ``dispersion`` of their counts, the variance
    over the mean, 1 of independent ones.
    """

    at_ns: Ints
    usual: float
    dispersion: float

    def most(self, begins_ns: Ints, length_ns: int) -> int:
        """How many came at most in windows of that length that begin then."""
        first = self.at_ns.searchsorted(begins_ns)
        return int((self.at_ns.searchsorted(begins_ns + length_ns) - first).max())


def usual(came_ns: Ints, span: Span) -> float:
    """Return how many usually come in a second: the mean of the quieter nine tenths."""
    counts = np.sort(_counts(came_ns, _edges(span, BIN_NS)))
    return float(np.mean(counts[: max(1, int(QUIETER * len(counts)))])) / (BIN_NS / 1e9)


def usual_quiet(came_ns: Ints, span: Span, stalled: Stretches) -> float | None:
    """Return how many come in a second of quiet time; None where there is too little of it."""
    edges = _edges(span, BIN_NS)
    quiet = ~stalled.touch(edges[:-1], edges[1:])
    if np.count_nonzero(quiet) * BIN_NS < QUIET_NS:
        return None
    counts = _counts(came_ns, edges)[quiet]
    return float(np.median(counts) or np.mean(counts)) / (BIN_NS / 1e9)


def dispersion(came_ns: Iterable[Ints], sent_ns: Ints, span: Span) -> float:
    """Return the index of dispersion of the counts of visits to the first servers that came for
    users' requests, each of several: their variance over their mean.

    It is 1 where each request is a visit (a Poisson process), and more where a page is asked for
    with its files: of sizes B it is E[B^2] / E[B], and 2 E[B] - 1 of geometric ones (W. Feller, "An
    Introduction to Probability Theory and Its Applications", vol. 1, 1968, compound distributions).
    """
    edges = np.array([span.start_ns, span.end_ns], dtype=np.int64)
    came = sum(int(_counts(each, edges)[0]) for each in came_ns)
    sent = int(_counts(sent_ns, edges)[0])
    return max(1.0, 2.0 * came / sent - 1.0) if sent else 1.0


def _edges(span: Span, length_ns: int) -> Ints:
    return np.arange(span.start_ns, span.end_ns + 1, length_ns, dtype=np.int64)


def _counts(came_ns: Ints, edges: Ints) -> Ints:
    return np.diff(np.searchsorted(came_ns, edges))
