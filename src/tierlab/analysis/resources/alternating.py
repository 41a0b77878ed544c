"""Do two resources take turns in being the bottleneck?

Q. Wang et al., "An Experimental Study of Rapidly Alternating Bottlenecks in n-Tier Applications"
(CLOUD 2013): each is saturated for moments only and neither on average, so a report of averages
finds no bottleneck; what betrays them is that one is busy just when the other is not. A. Zhong
et al., "Performance Implications of Non-Uniform VCPU-PCPU Mapping in Virtualization Environment"
(Cluster Computing 2013), section 4.1, figure 5, makes such a load: threads that run in turns on
shared cores.

A negative correlation of two series that each depend on their own past happens by chance more
often than tables of the correlation coefficient say. So each series is cut into blocks of random
lengths, about a second, and the blocks are shuffled: what each does within a second stays, what
they do together goes. Random cuts, or a period that divides the blocks would survive them. Every
pair is held against the strongest of all pairs that chance makes (P. H. Westfall and S. S. Young,
"Resampling-Based Multiple Testing", 1993), each in units of how much its own correlation varies by
chance, so that more pairs need no more shuffles.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from tierlab.analysis.query import Floats, Ints
from tierlab.analysis.result import Result
from tierlab.analysis.span import WINDOW_NS
from tierlab.analysis.statistics.shuffling import shuffled
from tierlab.analysis.statistics.smoothing import running_mean

BUSY = 0.8
"""A window is busy from here on: saturation of part of it is averaged with the rest."""

SIGNIFICANT = 0.01
_SLOW_NS = 2_000_000_000
_BLOCK_NS = 1_000_000_000
_DRAWS = 999
_AT_ONCE = 100
_REACHED = 10
_FEWEST = 100
_SOMETIMES = 0.02


class Alternation(Result):
    """Two resources' windows. ``correlation`` is of their changes faster than two seconds and ``p``
    its one-sided p-value, corrected for all pairs (Westfall and Young).

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
    busy = {
        name: values
        for name, values in sorted(series.items())
        if values.size >= _FEWEST and np.nanmean(values >= BUSY) >= _SOMETIMES
    }
    pairs = [(a, b) for a, b in combinations(busy, 2) if a.partition(" ")[0] != b.partition(" ")[0]]
    if not pairs:
        return []
    tests = _tests(busy, pairs, width_ns, np.random.default_rng(seed))
    found = [
        _describe((a, b), (busy[a], busy[b]), test, width_ns)
        for (a, b), test in zip(pairs, tests, strict=True)
    ]
    return sorted(found, key=lambda each: each.correlation)


def _quick(values: Floats, width_ns: int) -> Floats:
    """Return the part that changes faster than two seconds; what was not measured does not."""
    filled = np.where(np.isnan(values), np.nanmean(values), values)
    size = max(3, min(values.size, _SLOW_NS // width_ns))
    rest = filled - running_mean(filled, size)
    return np.asarray(np.where(np.isnan(values), 0.0, rest), dtype=np.float64)


def _tests(
    busy: Mapping[str, Floats],
    pairs: Sequence[tuple[str, str]],
    width_ns: int,
    dice: np.random.Generator,
) -> list[tuple[float, float]]:
    """Each pair's correlation and its p-value. Once chance has reached every pair ten times, none
    is met by more of it (J. Besag and P. Clifford, "Sequential Monte Carlo p-Values", 1991).
    """
    table = np.stack([_unit(_quick(each, width_ns)) for each in busy.values()])
    row = {name: number for number, name in enumerate(busy)}
    firsts, seconds = (np.array([row[pair[end]] for pair in pairs]) for end in (0, 1))
    seen = (table @ table.T)[firsts, seconds]
    chance = np.empty((0, len(pairs)))
    as_low = np.zeros(len(pairs), dtype=np.int64)
    while len(chance) < _DRAWS and as_low.min() < _REACHED:
        drawn = [
            _by_chance(table, width_ns, dice)[firsts, seconds]
            for _ in range(min(_AT_ONCE, _DRAWS - len(chance)))
        ]
        chance = np.concatenate([chance, drawn])
        as_low = _as_low(seen, chance)
    p_values = (1 + as_low) / (1 + len(chance))
    return list(zip(seen.tolist(), p_values.tolist(), strict=True))


def _by_chance(table: Floats, width_ns: int, dice: np.random.Generator) -> Floats:
    """The correlations of all with each other, once each was shuffled by itself."""
    size = table.shape[1]
    mixed = [each[shuffled(size, _BLOCK_NS / width_ns, dice)] for each in table]
    joined = np.stack(mixed).astype(np.float32)
    return np.asarray(joined @ joined.T, dtype=np.float64)


def _as_low(seen: Floats, chance: Floats) -> Ints:
    """How often the lowest of all pairs was by chance as low as each, both in units of how much
    that pair's varies.
    """
    usual = np.sqrt((np.sum(chance**2, axis=0) + seen**2) / (1 + len(chance)))
    usual[usual == 0] = 1.0
    lowest = np.sort((chance / usual).min(axis=1))
    found = np.searchsorted(lowest, seen / usual, side="right")
    # What never moves quickly takes no turns: chance is as low.
    return np.where(seen == 0, len(chance), found)


def _unit(values: Floats) -> Floats:
    norm = float(np.sqrt(values @ values))
    return values / norm if norm > 0 else values


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
