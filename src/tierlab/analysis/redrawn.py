"""A group of alike trials, drawn again many times: trials first, then stretches of each.

Source: the two-stage bootstrap of A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their
Application" (1997), section 3.8, with stretches of several lengths: what drifts over a trial shows
only in long ones. With a single trial only its stretches vary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tierlab.analysis.blocks import Blocks, middle_s
from tierlab.analysis.query import Floats, Ints

DRAWS = 400


class Redrawn:
    """Figures of a group; each has the shape (1 + DRAWS), the first as it was.

    Every trial is drawn in so many ``stretches`` of neighbouring blocks.
    """

    def __init__(self, trials: Sequence[Blocks], stretches: int, seed: int) -> None:
        self.trials = tuple(trials)
        random = np.random.default_rng(seed)
        share = np.full(len(trials), 1 / len(trials))
        chosen = random.multinomial(len(trials), share, DRAWS)
        self._weights = [
            np.vstack([np.ones(each.done.size), _drawn(random, times, each.done.size, stretches)])
            for times, each in zip(chosen.T, trials, strict=True)
        ]

    def total(self, of: Callable[[Blocks], Floats]) -> Floats:
        """The sum of something over all blocks drawn."""
        parts = (w @ of(each) for w, each in zip(self._weights, self.trials, strict=True))
        found: Floats = np.sum(list(parts), axis=0)
        return found

    def quantile_s(self, share: float, times: Callable[[Blocks], Floats]) -> Floats:
        """A quantile of response times counted by bin, in seconds; NaN where there were none."""
        used = np.flatnonzero(np.sum([times(each).sum(axis=0) for each in self.trials], axis=0))
        if not used.size:
            return np.full(1 + DRAWS, np.nan)
        reached = np.cumsum(self.total(lambda each: times(each)[:, used]), axis=1)
        wanted = share * reached[:, -1:]
        rank = used[np.argmax(reached >= wanted, axis=1)].astype(np.float64)
        return np.where(wanted[:, 0] > 0, middle_s(rank), np.nan)


def _drawn(random: np.random.Generator, times: Ints, blocks: int, stretches: int) -> Floats:
    """Draw as many stretches as a trial has, as often as the trial was: shape (DRAWS, blocks)."""
    count = min(stretches, blocks)
    drawn = random.multinomial(times * count, np.full(count, 1 / count))
    found: Floats = drawn[:, np.arange(blocks) * count // blocks].astype(np.float64)
    return found
