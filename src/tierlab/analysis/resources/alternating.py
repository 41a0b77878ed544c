"""Do two resources take turns in being the bottleneck?

Q. Wang et al., "An Experimental Study of Rapidly Alternating Bottlenecks in n-Tier Applications"
(CLOUD 2013): each is saturated for moments only and neither on average, so a report of averages
finds no bottleneck; what betrays them is that one is busy just when the other is not. A. Zhong
et al., "Performance Implications of Non-Uniform VCPU-PCPU Mapping in Virtualization Environment"
(Cluster Computing 2013), section 4.1, figure 5, makes such a load: threads that run in turns on
shared cores.

A negative correlation of two series that each depend on their own past happens by chance more
often than tables of the correlation coefficient say. So one series is cut into blocks of random
lengths, about a second, and the blocks are shuffled: what each does within a second stays, what
they do together goes. Random cuts, or a period that divides the blocks would survive them.
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from tierlab.analysis.query import Floats
from tierlab.analysis.result import Result
from tierlab.analysis.span import WINDOW_NS
from tierlab.analysis.statistics.holm import holm
from tierlab.analysis.statistics.shuffling import shuffled
from tierlab.analysis.statistics.smoothing import running_mean

BUSY = 0.8
"""A window is busy from here on: saturation of part of it is averaged with the rest."""

SIGNIFICANT = 0.01
_SLOW_NS = 2_000_000_000
_BLOCK_NS = 1_000_000_000
_DRAWS = 999
_FEWEST = 100
_SOMETIMES = 0.02


class Alternation(Result):
    """Two resources' windows. ``correlation`` is of their changes faster than two seconds and ``p``
    its one-sided p-value, corrected for the number of pairs (Holm).

    ``one_busy`` is the share of windows in which just one of them was busy, ``both_busy`` in which
    both were, ``turns`` how often per second the busy one changed. They are ``alternating`` when
    the correlation is negative beyond chance and each is busy at times without the other.
    """

    first: str
    second: str
    correlation: float
    p: float
    one_busy: float
    both_busy: float
    turns: float
    alternating: bool


def alternations(
    series: Mapping[str, Floats], width_ns: int = WINDOW_NS, seed: int = 1
) -> list[Alternation]:
    """Test every two of the ``series`` (shares in use on one grid, NaN: not measured), the most
    negatively correlated first. A resource that is hardly ever busy takes no turn and is left out,
    as are two figures of one subject (its name's first word).
    """
    dice = np.random.default_rng(seed)
    busy = {
        name: values
        for name, values in sorted(series.items())
        if values.size >= _FEWEST and np.nanmean(values >= BUSY) >= _SOMETIMES
    }
    pairs = [(a, b) for a, b in combinations(busy, 2) if a.partition(" ")[0] != b.partition(" ")[0]]
    tests = [_test(busy[a], busy[b], width_ns, dice) for a, b in pairs]
    corrected = holm([p for _, p in tests])
    found = [
        _describe((a, b), (busy[a], busy[b]), (correlation, p), width_ns)
        for (a, b), (correlation, _), p in zip(pairs, tests, corrected, strict=True)
    ]
    return sorted(found, key=lambda each: each.correlation)


def _quick(values: Floats, width_ns: int) -> Floats:
    """Return the part that changes faster than two seconds; what was not measured does not."""
    filled = np.where(np.isnan(values), np.nanmean(values), values)
    size = max(3, min(values.size, _SLOW_NS // width_ns))
    rest = filled - running_mean(filled, size)
    return np.asarray(np.where(np.isnan(values), 0.0, rest), dtype=np.float64)


def _test(
    first: Floats, second: Floats, width_ns: int, dice: np.random.Generator
) -> tuple[float, float]:
    a, b = _quick(first, width_ns), _quick(second, width_ns)
    scale = float(np.sqrt((a @ a) * (b @ b)))
    if scale == 0:
        return 0.0, 1.0
    correlation = float(a @ b) / scale
    as_low = sum(
        float(a @ b[shuffled(b.size, _BLOCK_NS / width_ns, dice)]) / scale <= correlation
        for _ in range(_DRAWS)
    )
    return correlation, (1 + as_low) / (1 + _DRAWS)


def _describe(
    names: tuple[str, str],
    values: tuple[Floats, Floats],
    test: tuple[float, float],
    width_ns: int,
) -> Alternation:
    a, b = values[0] >= BUSY, values[1] >= BUSY
    alone = np.where(a & ~b, 1, np.where(b & ~a, -1, 0))
    turn = alone[alone != 0]
    seconds = a.size * width_ns / 1e9
    each_alone = min(np.mean(a & ~b), np.mean(b & ~a))
    return Alternation(
        first=names[0],
        second=names[1],
        correlation=test[0],
        p=test[1],
        one_busy=float(np.mean(a ^ b)),
        both_busy=float(np.mean(a & b)),
        turns=float(np.count_nonzero(np.diff(turn)) / seconds),
        alternating=bool(test[0] < 0 and test[1] < SIGNIFICANT and each_alone >= _SOMETIMES / 2),
    )
