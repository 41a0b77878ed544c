"""At which load does an objective break?

Of each step and each bound of the objective the ratio of what was seen to what is allowed is taken;
the largest of them decides. It is taken not to fall as the load rises (isotonic regression: R. E.
Barlow, D. J. Bartholomew, J. M. Bremner and H. D. Brunk, "Statistical Inference under Order
Restrictions", 1972), and where its logarithm crosses zero, on a straight line between two steps,
the objective breaks. The interval holds 95 % of the crossings when the steps' windows are drawn
again, and in any case the two steps between which it breaks: of what is between them nothing was
seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from tierlab.analysis.knee.step import Windows
from tierlab.analysis.query import Floats
from tierlab.analysis.result import Result

DRAWS = 200
TAIL = 0.025

FAR = 10.0
"""A ratio above this or below its inverse counts as this: far is far."""

Measure = Callable[[Windows, Floats], Floats]
"""From a step's windows, each drawn so often (shape: draws, windows), to a figure by draw."""


def _used(step: Windows, drawn: Floats) -> Floats:
    """The largest part of a limit of the benchmark's rules that is used; 0 without rules."""
    return np.zeros(drawn.shape[0]) if step.limits is None else step.limits.used(drawn)


MEASURES: Mapping[str, Measure] = {
    "rules": _used,
    "mean_ns": lambda step, drawn: step.mean_s(drawn) * 1e9,
    "errors": lambda step, drawn: step.failed_share(drawn),
} | {
    name: partial(lambda step, drawn, share: step.quantile_s(share, drawn) * 1e9, share=share)
    for name, share in (
        *(("p50_ns", 0.5), ("p90_ns", 0.9), ("p95_ns", 0.95), ("p99_ns", 0.99)),
        *(("p999_ns", 0.999), ("max_ns", 1.0)),
    )
}
"""By key of the objective: what may be at most so much; of a limit of the rules, at most all of it.
The least throughput is none of them: any load that is low enough misses it.
"""


class Breaking(Result):
    """The load at which the objective breaks, from ``low`` to ``high`` with 95 % confidence.

    ``load`` is None where it did not, up to the highest step; then ``low`` is that step. Where it
    is missed at the lowest step already, ``low`` is 0.
    """

    load: float | None
    low: float
    high: float | None


def judged(objective: Mapping[str, object]) -> dict[str, float]:
    """The bounds of an objective, by key as it has them, that a load can break."""
    return {
        key: float(bound)
        for key, bound in objective.items()
        if key in MEASURES and isinstance(bound, int | float) and bound is not False
    }


def breaking(
    steps: Sequence[Windows], bounds: Mapping[str, float], seed: int = 1
) -> Breaking | None:
    """Find where an objective of these bounds breaks; None without steps or bounds.

    Same seed, same draws.
    """
    if not steps or not bounds:
        return None
    ordered = sorted(steps, key=lambda step: step.load)
    load = np.array([step.load for step in ordered])
    weight = np.array([1.0 + step.done.sum() + step.failed.sum() for step in ordered])
    dice = np.random.default_rng(seed)
    excess = np.array([_excess(step, bounds, dice) for step in ordered])
    found = [crossing(load, drawn, weight) for drawn in excess.T]
    if np.isinf(found[0]):
        return Breaking(load=None, low=float(load[-1]), high=None)
    low, high = np.quantile(found[1:], [TAIL, 1 - TAIL], method="inverted_cdf")
    below, above = load[load < found[0]], load[load >= found[0]]
    if not below.size:
        return Breaking(load=float(found[0]), low=0.0, high=float(max(high, load[0])))
    return Breaking(
        load=float(found[0]),
        low=float(min(low, below[-1])),
        high=None if np.isinf(high) else float(max(high, above[0])),
    )


def crossing(load: Floats, excess: Floats, weight: Floats) -> float:
    """Where a quantity that does not fall with the load becomes 0; infinite where it does not, and
    the lowest load where it is not below it there.
    """
    from scipy.optimize import isotonic_regression  # takes a tenth of a second to load

    fitted = isotonic_regression(excess, weights=weight).x
    reached = np.flatnonzero(fitted >= 0)
    if not reached.size:
        return float("inf")
    first = int(reached[0])
    if first == 0:
        return float(load[0])
    (x0, x1), (y0, y1) = load[first - 1 : first + 1], fitted[first - 1 : first + 1]
    return float(x0 + (x1 - x0) * -y0 / (y1 - y0))


def _excess(step: Windows, bounds: Mapping[str, float], dice: np.random.Generator) -> Floats:
    """The logarithm of the largest ratio of seen to allowed: as it was, then by draw."""
    count = step.done.size
    drawn = np.vstack([np.ones(count), dice.multinomial(count, np.full(count, 1 / count), DRAWS)])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [
            np.nan_to_num(MEASURES[key](step, drawn) / bound, nan=0.0, posinf=FAR)
            for key, bound in bounds.items()
        ]
    found: Floats = np.log(np.clip(np.max(ratios, axis=0), 1 / FAR, FAR))
    return found
