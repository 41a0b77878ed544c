"""A group of alike trials, drawn again many times: trials first, then stretches of each.

Source: the two-stage bootstrap of A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their
Application" (1997), section 3.8. With a single trial only its stretches vary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tierlab.analysis.blocks import Blocks, middle_s
from tierlab.analysis.query import Floats, Ints

DRAWS = 400


class Redrawn:
    """Figures of a group; each has the shape (1 + draws), the first as it was.

    Every trial is drawn in so many ``stretches`` of neighbouring blocks, or as many as it has.
    """

    def __init__(
        self, trials: Sequence[Blocks], stretches: int, seed: int, draws: int = DRAWS
    ) -> None:
        self.trials = tuple(trials)
        self.stretches = min(stretches, *(each.done.size for each in trials))
        random = np.random.default_rng(seed)
        share = np.full(len(trials), 1 / len(trials))
        chosen = random.multinomial(len(trials), share, draws)
        self._weights = [
            np.vstack([np.ones(each.done.size), self._drawn(random, times, each.done.size)])
            for times, each in zip(chosen.T, trials, strict=True)
        ]

    @property
    def units(self) -> int:
        """How many parts vary when it is drawn: trials, or the stretches of the only one."""
        return len(self.trials) if len(self.trials) > 1 else self.stretches

    def total(self, of: Callable[[Blocks], Floats]) -> Floats:
        """The sum of something over all blocks drawn."""
        parts = (w @ of(each) for w, each in zip(self._weights, self.trials, strict=True))
        found: Floats = np.sum(list(parts), axis=0)
        return found

    def quantile_s(self, share: float, times: Callable[[Blocks], Floats]) -> Floats:
        """A quantile of response times counted by bin, in seconds; NaN where there were none.

        Within a bin the times are taken to lie evenly.
        """
        used = np.flatnonzero(np.sum([times(each).sum(axis=0) for each in self.trials], axis=0))
        if not used.size:
            return np.full(self._weights[0].shape[0], np.nan)
        counts = self.total(lambda each: times(each)[:, used])
        reached = np.cumsum(counts, axis=1)
        wanted = share * reached[:, -1]
        place = np.argmax(reached >= wanted[:, None], axis=1)
        row = np.arange(place.size)
        with np.errstate(invalid="ignore", divide="ignore"):
            over = (reached[row, place] - wanted) / counts[row, place]
        found: Floats = np.where(wanted > 0, middle_s(used[place] + 0.5 - over), np.nan)
        return found

    def _drawn(self, random: np.random.Generator, times: Ints, blocks: int) -> Floats:
        """Draw a trial's stretches as often as the trial was drawn: shape (draws, blocks)."""
        drawn = random.multinomial(
            times * self.stretches, np.full(self.stretches, 1 / self.stretches)
        )
        found: Floats = drawn[:, np.arange(blocks) * self.stretches // blocks].astype(np.float64)
        return found
