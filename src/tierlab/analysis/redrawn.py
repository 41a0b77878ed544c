"""Trials drawn again many times, all of them in the same stretches of time.

Stretches of neighbouring blocks are drawn with replacement (the block bootstrap, see
:mod:`tierlab.analysis.blocks`), the same ones in every trial: what all trials have at that moment,
such as a JVM that warms up, is then in both sides of a comparison and drops out of their
difference, as with the paired batches of A. M. Law, "Simulation Modeling and Analysis" (2015),
section 10.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tierlab.analysis.blocks import Blocks, middle_s
from tierlab.analysis.query import Floats

STRETCHES = 12
"""Of a trial, or as many as it has blocks; 5 s of a minute are longer than most stalls."""
DRAWS = 200


class Redrawn:
    """Figures of one trial; each has the shape (1 + draws), the first as it was."""

    def __init__(self, trial: Blocks, drawn: Floats) -> None:
        """``drawn`` says how often each stretch is drawn: shape (draws, stretches)."""
        count = drawn.shape[1]
        place = np.arange(trial.done.size) * count // trial.done.size
        self.trial = trial
        self._starts = np.searchsorted(place, np.arange(count))
        self._weights = np.vstack([np.ones(count), drawn])

    def total(self, of: Callable[[Blocks], Floats]) -> Floats:
        """The sum of something over all blocks drawn."""
        found: Floats = self._weights @ np.add.reduceat(of(self.trial), self._starts)
        return found

    def quantile_s(self, share: float, times: Callable[[Blocks], Floats]) -> Floats:
        """A quantile of response times counted by bin, in seconds; NaN where there were none.

        Within a bin the times are taken to lie evenly.
        """
        seen = np.add.reduceat(times(self.trial), self._starts)
        used = np.flatnonzero(seen.sum(axis=0))
        if not used.size:
            return np.full(self._weights.shape[0], np.nan)
        # Not `@`: BLAS takes threads for it, which wait for each other on a busy machine.
        counts = np.einsum("ds,sb->db", self._weights, seen[:, used])
        reached = np.cumsum(counts, axis=1)
        wanted = share * reached[:, -1]
        place = np.argmax(reached >= wanted[:, None], axis=1)
        row = np.arange(place.size)
        with np.errstate(invalid="ignore", divide="ignore"):
            over = (reached[row, place] - wanted) / counts[row, place]
        found: Floats = np.where(wanted > 0, middle_s(used[place] + 0.5 - over), np.nan)
        return found


def stretches(trials: Sequence[Blocks]) -> int:
    """How many stretches each of these trials is cut into."""
    return min(STRETCHES, *(each.done.size for each in trials))


def redrawn(trials: Sequence[Blocks], count: int, seed: int) -> list[Redrawn]:
    """Draw trials again, each in the same ``count`` stretches; same seed, same draws."""
    random = np.random.default_rng(seed)
    drawn = random.multinomial(count, np.full(count, 1 / count), DRAWS).astype(np.float64)
    return [Redrawn(each, drawn) for each in trials]
