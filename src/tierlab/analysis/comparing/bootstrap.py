"""Trials drawn again many times, all of them in the same stretches of time.

Stretches of neighbouring blocks are drawn with replacement (the block bootstrap, see
:mod:`tierlab.analysis.comparing.blocks`). They are cut by the time since the measured part began,
and the same ones are drawn in every trial: what all trials have at that moment, such as a JVM that
warms up, is then in both sides of a comparison and drops out of their difference, as with the
paired batches of A. M. Law, "Simulation Modeling and Analysis" (2015), section 10.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.comparing.blocks import Blocks, middle_s
from tierlab.analysis.query import Floats

STRETCHES = 12
"""Of a trial, or as many as it has blocks; 5 s of a minute are longer than most stalls."""
DRAWS = 200


@dataclass(frozen=True)
class Stretches:
    """So many stretches of so many seconds; what is left over belongs to the last one."""

    count: int
    seconds: float

    def starts(self, trial: Blocks) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the first block of each stretch of a trial."""
        return np.round(np.arange(self.count) * self.seconds / trial.seconds).astype(np.int64)


class Resampled:
    """Figures of one trial; each has the shape (1 + draws), the first as it was."""

    def __init__(self, trial: Blocks, cut: Stretches, drawn: Floats) -> None:
        """``drawn`` says how often each stretch is drawn: shape (draws, stretches)."""
        self.trial = trial
        self._starts = cut.starts(trial)
        self._weights = np.vstack([np.ones(cut.count), drawn])

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


def stretches(trials: Sequence[Blocks]) -> Stretches:
    """Cut trials into stretches of one length, each of whole blocks in every trial."""
    width_s = max(each.seconds for each in trials)
    shortest_s = min(each.seconds_in_all for each in trials)
    blocks = int(shortest_s / width_s + 1e-9)
    each = max(1, blocks // STRETCHES)
    return Stretches(blocks // each, each * width_s)


def as_measured(trials: Sequence[Blocks]) -> list[Resampled]:
    """The figures of trials without any draws."""
    return [
        Resampled(each.summed(), Stretches(1, each.seconds_in_all), np.zeros((0, 1)))
        for each in trials
    ]


def resampled(trials: Sequence[Blocks], cut: Stretches, seed: int) -> list[Resampled]:
    """Draw trials again, each in the same stretches; same seed, same draws."""
    random = np.random.default_rng(seed)
    even = np.full(cut.count, 1 / cut.count)
    drawn = random.multinomial(cut.count, even, DRAWS).astype(np.float64)
    return [Resampled(each, cut, drawn) for each in trials]
