"""How many modes have the response times, where are they, and how much lies in each?

J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), section 3.3, figure 15, tells a congested system by
the second mode of its response times. Here the modes are found and tested: a kernel density of
log10 response times, Silverman's test for more than ``k`` modes by the critical bandwidth and a
smoothed bootstrap (B. W. Silverman, "Using Kernel Density Estimates to Investigate Multimodality",
JRSS B 43, 1981), first for one mode, then for two, and so on. The thesis' own buckets are in
:mod:`tierlab.analysis.requests.histogram`.
"""

from itertools import pairwise

import numpy as np

from tierlab.analysis.query import IN_SPAN, Connection, Floats, Ints, bounds, columns
from tierlab.analysis.requests.responses import FAILED, RESPONSE_NS
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.analysis.statistics.smoothing import normal_kernel

STEP = 0.01
"""The density's grid in decades: 2.3 %."""

MOST = 5
FEWEST = 30
_SIGNIFICANT = 0.05
_DRAWS = 200
_PAD = 3.0
_WIDEST = 1.0


class Mode(Result):
    """A peak of the density at ``at_s``; ``weight`` is the share of the requests between the
    valleys ``from_s`` and ``to_s`` on its sides (None: no valley on that side).
    """

    at_s: float
    from_s: float | None
    to_s: float | None
    weight: float


class Modes(Result):
    """The modes of the successful requests' response times, fastest first.

    ``p_values`` are of the tests for more than one, more than two ... modes; the last is the first
    that is not significant, unless there are more modes than are sought.
    """

    count: int
    modes: list[Mode]
    p_values: list[float]


def modes(db: Connection, span: Span, seed: int = 1) -> Modes | None:
    """Find the modes of the requests that ended in the span; None with fewer than 30."""
    found = columns(
        db,
        f"""SELECT floor(log10(greatest({RESPONSE_NS}, 1000) / 1e9) / {STEP})::INTEGER AS slot,
            count(*) AS count FROM requests
            WHERE NOT {FAILED} AND end_ns {IN_SPAN} GROUP BY slot ORDER BY slot""",
        bounds(span),
    )
    if found["count"].sum() < FEWEST:
        return None
    middle = np.asarray(found["slot"] * STEP + STEP / 2, dtype=np.float64)
    return modes_of(middle, found["count"], seed)


def modes_of(log10_s: Floats, count: Floats, seed: int = 1) -> Modes:
    """Find the modes of values given as log10 seconds and how often each came."""
    low = float(log10_s.min()) - _PAD
    weights = np.zeros(int((float(log10_s.max()) + _PAD - low) / STEP) + 2)
    np.add.at(weights, np.round((log10_s - low) / STEP).astype(np.int64), count)
    dice = np.random.default_rng(seed)
    p_values: list[float] = []
    for number in range(1, MOST):
        width = _critical(weights, number)
        p_values.append(_p_value(weights, number, width, dice))
        if p_values[-1] >= _SIGNIFICANT:
            break
    else:
        number = MOST
        width = _critical(weights, number)
    return Modes(count=int(count.sum()), modes=_describe(weights, width, low), p_values=p_values)


def _density(weights: Floats, width: float) -> Floats:
    return normal_kernel(weights, width / STEP)


def _peaks(density: Floats) -> Ints:
    """Return where the density has its maxima; what is 1e-9 of the highest is level."""
    change = np.diff(density)
    change[np.abs(change) < 1e-9 * density.max()] = 0
    slope = np.flatnonzero(change)
    sign = np.sign(change[slope])
    turns = np.flatnonzero((sign[:-1] > 0) & (sign[1:] < 0))
    return np.asarray((slope[turns] + 1 + slope[turns + 1]) // 2, dtype=np.int64)


def _critical(weights: Floats, number: int) -> float:
    """Return the smallest bandwidth in decades with at most that many modes, to one in a thousand.

    With a normal kernel the number of modes only falls as the bandwidth grows.
    """
    few, many = _WIDEST, STEP
    while few / many > 1.001:
        middle = float(np.sqrt(few * many))
        if _peaks(_density(weights, middle)).size <= number:
            few = middle
        else:
            many = middle
    return few


def _p_value(weights: Floats, number: int, width: float, dice: np.random.Generator) -> float:
    """Return how often a sample of the density with ``number`` modes has more of them.

    Silverman rescales each sample to the data's variance; widening the bandwidth instead is the
    same.
    """
    total = int(weights.sum())
    at = STEP * np.arange(weights.size)
    mean = np.average(at, weights=weights)
    variance = float(np.average((at - mean) ** 2, weights=weights))
    wider = width * np.sqrt(1 + width**2 / max(variance, STEP**2))
    chance = np.maximum(_density(weights, width), 0)
    chance /= chance.sum()
    more = sum(
        _peaks(_density(dice.multinomial(total, chance).astype(np.float64), wider)).size > number
        for _ in range(_DRAWS)
    )
    return (1 + more) / (1 + _DRAWS)


def _describe(weights: Floats, width: float, low: float) -> list[Mode]:
    """Return the modes at a bandwidth, divided at the lowest points between them."""
    density = _density(weights, width)
    peaks = _peaks(density)
    valleys = [int(a + density[a : b + 1].argmin()) for a, b in pairwise(peaks)]
    edges = [0, *valleys, weights.size]
    at_s = [10 ** (low + STEP * valley) for valley in valleys]
    return [
        Mode(
            at_s=float(10 ** (low + STEP * peak)),
            from_s=at_s[index - 1] if index else None,
            to_s=at_s[index] if index < len(at_s) else None,
            weight=float(weights[edges[index] : edges[index + 1]].sum() / weights.sum()),
        )
        for index, peak in enumerate(peaks.tolist())
    ]
