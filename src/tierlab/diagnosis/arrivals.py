"""How do visits usually come to a server: how many a second, and how many at once?"""

import numpy as np

from tierlab.analysis.query import Ints
from tierlab.analysis.span import Span
from tierlab.diagnosis.signals import Stretches

BIN_NS = 150_000_000

QUIET_NS = 1_000_000_000
"""Less quiet time says little: then the run's quieter nine tenths are taken."""

STEPS = 5
"""Of windows that slide, each begins a fifth of its length after the one before."""

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


def most_quiet(came_ns: Ints, span: Span, stalled: Stretches, length_ns: int) -> int | None:
    """Return the most that came within any such length of quiet time; None where there is too
    little of it.
    """
    start_ns = np.arange(span.start_ns, span.end_ns - length_ns, length_ns // STEPS, dtype=np.int64)
    quiet = ~stalled.touch(start_ns, start_ns + length_ns + BEFORE_NS)
    if np.count_nonzero(quiet) * (length_ns // STEPS) < QUIET_NS:
        return None
    first, last = (np.searchsorted(came_ns, start_ns[quiet] + more) for more in (0, length_ns))
    return int((last - first).max())


def _edges(span: Span, length_ns: int) -> Ints:
    return np.arange(span.start_ns, span.end_ns + 1, length_ns, dtype=np.int64)


def _counts(came_ns: Ints, edges: Ints) -> Ints:
    return np.diff(np.searchsorted(came_ns, edges))
