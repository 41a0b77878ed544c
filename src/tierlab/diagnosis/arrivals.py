"""How do visits usually come to a server: how many a second, and how unevenly?"""

import numpy as np

from tierlab.analysis.query import Ints
from tierlab.analysis.span import Span
from tierlab.diagnosis.signals import Stretches

BIN_NS = 150_000_000

QUIET_NS = 1_000_000_000
"""Less quiet time says little: then the run's quieter nine tenths are taken."""

APART_NS = 1_000_000_000
"""Counts so far apart have no visits of one page in common, and a load that changes has not changed
much between them."""

BEFORE_NS = 1_000_000_000
"""Who made a stall may have come so long before it, and is not usual."""


def usual(came_ns: Ints, span: Span) -> float:
    """Return how many usually come in a second: the mean of the quieter nine tenths."""
    counts = np.sort(_counts(came_ns, _edges(span, BIN_NS)))
    return float(np.mean(counts[: max(1, int(0.9 * len(counts)))])) / (BIN_NS / 1e9)


def usual_quiet(came_ns: Ints, span: Span, stalled: Stretches) -> float | None:
    """Return how many come in a second of quiet time; None where there is too little of it."""
    edges = _edges(span, BIN_NS)
    quiet = ~stalled.touch(edges[:-1], edges[1:])
    if np.count_nonzero(quiet) * BIN_NS < QUIET_NS:
        return None
    counts = _counts(came_ns, edges)[quiet]
    return float(np.median(counts) or np.mean(counts)) / (BIN_NS / 1e9)


def dispersion(came_ns: Ints, span: Span, stalled: Stretches, length_ns: int) -> float:
    """Return the index of dispersion of the counts in windows of quiet time of that length: their
    variance over their mean, and no less than 1.

    It is 1 where each comes by itself (a Poisson process), and more where a user asks for many
    things at once, as a browser does (D. R. Cox, P. A. W. Lewis, "The Statistical Analysis of
    Series of Events", 1966). The variance is of pairs a second apart: a load that slowly rises is
    not uneven. 1 where there is too little quiet time.
    """
    edges, apart = _edges(span, length_ns), APART_NS // length_ns
    counts = _counts(came_ns, edges)
    quiet = ~stalled.touch(edges[:-1], edges[1:] + BEFORE_NS)
    both = quiet[apart:] & quiet[:-apart]
    if np.count_nonzero(both) * length_ns < QUIET_NS or not counts[quiet].any():
        return 1.0
    steps = (counts[apart:] - counts[:-apart])[both]
    return max(1.0, float(np.mean(np.square(steps)) / 2 / np.mean(counts[quiet])))


def _edges(span: Span, length_ns: int) -> Ints:
    return np.arange(span.start_ns, span.end_ns + 1, length_ns, dtype=np.int64)


def _counts(came_ns: Ints, edges: Ints) -> Ints:
    return np.diff(np.searchsorted(came_ns, edges))
