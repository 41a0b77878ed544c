"""Did the run have a congested mode and a normal mode, and when was which?

J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), section 3.3, figures 15 to 17, names them so: over
one part of a run requests take seconds, over another they do not, at the same load. Seconds are
told apart by a hidden Markov model of two states whose emissions are the log response times' means,
fitted by Baum and Welch's method (L. R. Rabiner, "A Tutorial on Hidden Markov Models", Proc. IEEE
77, 1989). Two modes are believed when they explain the run much better than one (BIC), lie well
apart, and both last.
"""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import IN_SPAN, Bools, Connection, Floats, bounds, columns
from tierlab.analysis.requests.responses import RESPONSE_NS
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.analysis.statistics.stretches import Stretch, stretches

WINDOW_NS = 1_000_000_000
LASTING_S = 5.0
"""A mode lasts at least so long somewhere; shorter stretches are single events, not a mode."""

APART = 2.0
"""Congested requests take at least so many times as long, in the geometric mean."""

_FEWEST = 20
_SIGMAS = 2.0
_BIC = 10.0
_ROUNDS = 50
_STAY = 0.95


class TwoModes(Result):
    """The ``congested`` stretches; the rest of the run is normal. ``congested_s`` and ``normal_s``
    are the geometric means of the response times in each, ``share`` the congested part of the run
    and ``bic_gain`` how much better two modes explain it than one (10 is very strong: R. E. Kass
    and A. E. Raftery, "Bayes Factors", JASA 90, 1995).
    """

    congested: list[Stretch]
    congested_s: float
    normal_s: float
    share: float
    bic_gain: float


def two_modes(db: Connection, span: Span) -> TwoModes | None:
    """Find the two modes of the span; None where it has but one, or too little was measured."""
    found = columns(
        db,
        f"""SELECT (end_ns - $start) // {WINDOW_NS} AS slot, avg(ln(greatest({RESPONSE_NS}, 1)))
            AS level FROM requests WHERE end_ns {IN_SPAN} GROUP BY slot""",
        bounds(span),
    )
    level = np.full(span.windows(WINDOW_NS), np.nan)
    level[found["slot"]] = found["level"]
    states = two_states(level)
    if states is None:
        return None
    edge_ns = np.minimum(
        span.start_ns + WINDOW_NS * np.arange(level.size + 1, dtype=np.int64), span.end_ns
    )
    return TwoModes(
        congested=[
            Stretch(start_ns=int(edge_ns[a]), end_ns=int(edge_ns[b]))
            for a, b in stretches(states.high).tolist()
        ],
        congested_s=float(np.exp(states.means[1]) / 1e9),
        normal_s=float(np.exp(states.means[0]) / 1e9),
        share=float(states.high.mean()),
        bic_gain=states.bic_gain,
    )


@dataclass(frozen=True)
class States:
    """Which windows are in the high state, both states' means, how likely that is, and what two
    states gain over one.
    """

    high: Bools
    means: Floats
    log_likelihood: float
    bic_gain: float


def two_states(level: Floats) -> States | None:
    """Divide a series (NaN: not measured) into a low and a high state; None when it is one."""
    known = level[~np.isnan(level)]
    if known.size < _FEWEST or known.std() == 0:
        return None
    means = np.quantile(known, [0.25, 0.9])
    sigma = np.full(2, known.std())
    stay, weight = np.full((2, 2), 1 - _STAY), np.full(2, 0.5)
    np.fill_diagonal(stay, _STAY)
    floor = max(0.02, 0.1 * float(known.std()))
    likelihood = float("-inf")
    for _ in range(_ROUNDS):
        emission = _emission(level, means, sigma)
        state, pair, new = _smoothed(emission, stay, weight)
        if new - likelihood < 1e-6 * abs(new):
            break
        likelihood, seen = new, state * ~np.isnan(level)[:, None]
        means = np.nansum(seen * level[:, None], axis=0) / seen.sum(0)
        spread = np.nansum(seen * (level[:, None] - means) ** 2, axis=0) / seen.sum(0)
        sigma = np.maximum(np.sqrt(spread), floor)
        stay = np.maximum(pair, 1e-6) / np.maximum(pair, 1e-6).sum(1, keepdims=True)
        weight = state[0]
    order = np.argsort(means)
    high = state[:, order[1]] > 0.5
    means, sigma = means[order], sigma[order]
    one = _normal(known, float(known.mean()), float(known.std())).sum()
    gain = 2 * (likelihood - float(one)) - 5 * float(np.log(known.size))
    apart = means[1] - means[0]
    lasting = min(_longest(high), _longest(~high)) * WINDOW_NS / 1e9 >= LASTING_S
    if gain < _BIC or apart < max(np.log(APART), _SIGMAS * sigma[0]) or not lasting:
        return None
    return States(high, means, likelihood, gain)


def _normal(values: Floats, mean: float, sigma: float) -> Floats:
    density = -((values - mean) ** 2) / (2 * sigma**2) - np.log(sigma * np.sqrt(2 * np.pi))
    return np.asarray(density, dtype=np.float64)


def _emission(level: Floats, means: Floats, sigma: Floats) -> Floats:
    """Return the log density of each window in each state; what was not measured tells nothing."""
    both = [_normal(level, float(m), float(s)) for m, s in zip(means, sigma, strict=True)]
    return np.nan_to_num(np.stack(both, axis=1), nan=0.0)


def _smoothed(emission: Floats, stay: Floats, weight: Floats) -> tuple[Floats, Floats, float]:
    """Return each window's states, the expected transitions, and the log likelihood (forward and
    backward, each step scaled).
    """
    count = emission.shape[0]
    shift = emission.max(axis=1, keepdims=True)
    density = np.exp(emission - shift)
    forward, backward = np.empty((count, 2)), np.ones((count, 2))
    scale = np.empty(count)
    state = weight
    for n in range(count):
        state = (state @ stay if n else state) * density[n]
        scale[n] = max(state.sum(), 1e-300)
        state = state / scale[n]
        forward[n] = state
    for n in range(count - 2, -1, -1):
        backward[n] = stay @ (density[n + 1] * backward[n + 1]) / scale[n + 1]
    ahead = density[1:] * backward[1:] / scale[1:, None]
    pair = stay * (forward[:-1].T @ ahead)
    return forward * backward, pair, float((np.log(scale) + shift[:, 0]).sum())


def _longest(marked: Bools) -> int:
    return int(np.diff(stretches(marked)).max(initial=0))
