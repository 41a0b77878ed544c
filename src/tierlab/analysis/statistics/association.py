"""Which series moved with the bottleneck's windows, and just before them, beyond chance?

The fourth step of transient-event analysis in J. Park, "Performance Scalability of N-Tier
Application in Virtualized Cloud Environments" (PhD thesis, Georgia Institute of Technology, 2016),
section 4.3, figure 31, finds the root cause by eye, from page faults that "coincide near perfectly"
with saturation. Here each candidate's series is correlated with the windows at every lag up to a
limit, cause first. Both series depend on their own past, so chance is what is left when the windows
are shuffled in blocks (:mod:`tierlab.analysis.statistics.shuffling`). The largest correlation over
the lags is tested as such, and the p-values are corrected for the number of candidates.
"""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from tierlab.analysis.query import Floats, Ints
from tierlab.analysis.result import Result
from tierlab.analysis.span import WINDOW_NS
from tierlab.analysis.statistics.false_discovery import false_discovery
from tierlab.analysis.statistics.holm import holm
from tierlab.analysis.statistics.shuffling import shuffled

LAG_NS = 200_000_000
"""A cause comes at most so long before its effect, and one window after it (both are sampled)."""

_FEWEST = 50
_BLOCK_NS = 2_000_000_000
_DRAWS = 1_999
"""As many more as it takes for the smallest p-value to be below ``LEVEL`` when corrected for all
candidates: of a true one among hundreds, chance would seem too likely otherwise.
"""
LEVEL = 0.05
_AT_ONCE = 100
_REACHED = 10


class Association(Result):
    """A candidate's highest correlation with the windows, at ``lag_s`` before them.

    ``p`` is its one-sided p-value, never zero (B. Phipson and G. K. Smyth, 2010); ``p_holm`` and
    ``p_fdr`` are corrected for all candidates by Holm and by Benjamini and Hochberg.
    """

    cause: str
    lag_s: float
    correlation: float
    p: float
    p_holm: float
    p_fdr: float


def indicator(windows: Iterable[tuple[int, int]], edge_ns: Ints) -> Floats:
    """Return which part of the time between each edge and the next lies in the windows, which do
    not overlap.
    """
    covered = np.zeros(edge_ns.size - 1)
    for start_ns, end_ns in windows:
        inside = np.minimum(edge_ns[1:], end_ns) - np.maximum(edge_ns[:-1], start_ns)
        covered += np.maximum(inside, 0)
    return np.asarray(np.minimum(covered / np.diff(edge_ns), 1.0), dtype=np.float64)


def associations(
    causes: Mapping[str, Floats],
    effect: Floats,
    width_ns: int = WINDOW_NS,
    lag_ns: int = LAG_NS,
    seed: int = 1,
) -> list[Association]:
    """Test every candidate against the effect, the least likely by chance first.

    All are on one grid of windows; NaN (not measured) counts as the mean. A candidate that never
    changed cannot have caused anything and is left out.
    """
    target = _standard(effect)
    series = {name: _standard(values) for name, values in sorted(causes.items())}
    usable = {n: s for n, s in series.items() if s is not None and s.size == effect.size}
    if target is None or effect.size < _FEWEST or not usable:
        return []

    reach = list(range(-1, max(1, lag_ns // width_ns) + 1))
    table = np.stack(list(usable.values()))
    shifted = [np.roll(table, step, axis=1) for step in reach]
    at_lag = np.stack([each @ target for each in shifted])
    highest = at_lag.max(axis=0)
    p_values = _p_values(shifted, target, highest, _BLOCK_NS / width_ns, seed)
    corrected = zip(p_values, holm(p_values), false_discovery(p_values), strict=True)
    found = [
        Association(
            cause=name,
            lag_s=reach[int(at_lag[:, row].argmax())] * width_ns / 1e9,
            correlation=float(highest[row]),
            p=p,
            p_holm=p_holm,
            p_fdr=p_fdr,
        )
        for row, (name, (p, p_holm, p_fdr)) in enumerate(zip(usable, corrected, strict=True))
    ]
    return sorted(found, key=lambda each: (each.p, -each.correlation))


def _standard(values: Floats) -> Floats | None:
    """Return the values with mean 0 and norm 1; None for what never changed."""
    if np.isnan(values).all():
        return None
    rest = np.nan_to_num(values - np.nanmean(values))
    norm = float(np.sqrt(rest @ rest))
    return rest / norm if norm > 1e-12 * max(1.0, float(np.nanmax(np.abs(values)))) else None


def _p_values(
    shifted: list[Floats], target: Floats, highest: Floats, length: float, seed: int
) -> list[float]:
    """Return how often each row's highest correlation over the lags is as high with the target
    shuffled. All rows meet the same shuffles; one that chance has reached ten times meets no more
    (J. Besag and P. Clifford, "Sequential Monte Carlo p-Values", Biometrika 78, 1991).
    """
    dice = np.random.default_rng(seed)
    most = max(_DRAWS, math.ceil(highest.size / LEVEL))
    as_high, met = np.zeros((2, highest.size), dtype=np.int64)
    for first in range(0, most, _AT_ONCE):
        left = np.flatnonzero(as_high < _REACHED)
        if not left.size:
            break
        draws = min(_AT_ONCE, most - first)
        chance = np.stack([target[shuffled(target.size, length, dice)] for _ in range(draws)])
        best = np.stack([each[left] @ chance.T for each in shifted]).max(axis=0)
        as_high[left] += np.count_nonzero(best >= highest[left, None] - 1e-12, axis=1)
        met[left] += draws
    return [float(each) for each in (1 + as_high) / (1 + met)]
