"""For how long does chance alone keep all CPUs of a server busy, at the load that the run has?

Requests come at random, some cost more than others, and what a machine gives changes. So the busy
share over a time L scatters around its median, the less the longer L is: CPUs that are 80 % busy
are full for a tenth of a second every few seconds, and for whole ones next to never. How far it
scatters is read from the run itself, for each L. Its tails are longer than a normal variable's, as
which pages are asked for and what the machine gives change slowly; Student's t with five degrees of
freedom has them: of ten undisturbed minutes of RUBiS at 1,140 requests/s, 81 % busy, it gives 39,
4.8, 1.7, 0.5 and 0.26 stretches a minute of 100, 300, 500, 1,000 and 1,500 ms; there were 29, 6.0,
3.0, 0.8 and 0.1 (with the scatter read from both quartiles).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from math import atan, cos, pi, sin, sqrt

import numpy as np

from tierlab.analysis.query import Floats, Ints
from tierlab.analysis.resources.metrics import SATURATED
from tierlab.analysis.span import WINDOW_NS, Span
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.saturated import LEAST_NS, WHOLE
from tierlab.diagnosis.signals import Signal

RARE = 0.05
"""How many such stretches a minute chance may bring: as many false findings as are allowed."""

LONGEST_NS = 10_000_000_000
"""CPUs that are full for longer are told of, whatever the rest of the run is like."""

LEAST_SCATTER = 0.001
"""What does not scatter at all is full by chance at no level below."""

MINUTE_NS = 60_000_000_000
QUARTILE = 0.7267
"""How far its quartiles are from its median. The lower is asked: an overload that lasts for a third
of the run moves the upper, and in undisturbed minutes both say the same."""


def full_by_chance(busy: Signal, cpus: int, span: Span) -> Callable[[Window], bool]:
    """Return what says of a window of the span whether so many CPUs, of which ``busy`` is the sum
    of their busy shares, were full around it for no longer than chance keeps them.
    """
    mean = replace(busy, value=busy.value / cpus)
    chance = cache(partial(chance_ns, mean, span))  # a run without an overload never asks

    def by_chance(window: Window) -> bool:
        length_ns = chance()
        # What lasts is a window itself: a shorter one lies in no longer stretch than that.
        longest_ns = max(window.end_ns - window.start_ns, LEAST_NS)
        return length_ns > longest_ns or not _full_for(mean, window, length_ns)

    return by_chance


def chance_ns(busy: Signal, span: Span) -> int:
    """Return the shortest time in which the mean of a busy share (0..1) is full fewer than 0.05
    times a minute by chance, in steps of 50 ms; 10 s where it takes longer, or too little is known.
    What is full all of the time, or most of it, is so by no chance: 2 s then.
    """
    shares = busy.means(_edges(span))
    known = shares[~np.isnan(shares)]
    if known.size and np.median(known) >= WHOLE:
        return LEAST_NS
    for count in range(1, LONGEST_NS // WINDOW_NS + 1):
        if _times_a_minute(_running(shares, count), count * WINDOW_NS) <= RARE:
            return count * WINDOW_NS
    return LONGEST_NS


def _full_for(busy: Signal, window: Window, length_ns: int) -> bool:
    """Say whether the mean is full in any stretch of that length that the window touches."""
    around = Span(window.start_ns - length_ns, window.end_ns + length_ns)
    means = _running(busy.means(_edges(around)), length_ns // WINDOW_NS)
    return bool((means[~np.isnan(means)] >= SATURATED).any())


def _edges(span: Span) -> Ints:
    return np.arange(span.start_ns, span.end_ns + 1, WINDOW_NS, dtype=np.int64)


def _running(shares: Floats, count: int) -> Floats:
    """Return the mean of every so many that follow one another; none of fewer."""
    if shares.size < count:
        return shares[:0]
    means: Floats = np.convolve(shares, np.full(count, 1 / count), mode="valid")
    return means


def _times_a_minute(means: Floats, length_ns: int) -> float:
    """Return how often chance makes stretches of that length full; means are of such stretches."""
    known = means[~np.isnan(means)]
    if not known.size:
        return np.inf
    low, middle = np.quantile(known, [0.25, 0.5])
    scatter = max((middle - low) / QUARTILE, LEAST_SCATTER)
    return MINUTE_NS / length_ns * beyond((SATURATED - middle) / scatter)


def beyond(t: float) -> float:
    """Return the chance of more than t by Student's t with five degrees of freedom (M. Abramowitz
    and I. Stegun, "Handbook of Mathematical Functions", 1964, 26.7.3): SciPy's takes a tenth of a
    second to load.
    """
    angle = atan(t / sqrt(5))
    even = cos(angle) * (1 + 2 / 3 * cos(angle) ** 2)
    return 0.5 - (angle + sin(angle) * even) / pi
