"""Shuffling a series that depends on its own past, so that only its alignment with others is lost.

The series is cut into blocks, and the blocks are put into random order: what it does within a block
stays (P. Hall, J. Horowitz, B.-Y. Jing, "On Blocking Rules for the Bootstrap with Dependent Data",
Biometrika 82, 1995). The blocks' lengths are random (D. N. Politis, J. P. Romano, "The Stationary
Bootstrap", JASA 89, 1994): a period that divides a fixed length would survive every shuffle.
"""

import numpy as np

from tierlab.analysis.query import Ints


def shuffled(size: int, mean_length: float, dice: np.random.Generator) -> Ints:
    """Return the positions 0 to ``size - 1`` in blocks of geometric lengths, in random order."""
    cuts = np.flatnonzero(dice.random(size - 1) < 1 / max(mean_length, 1.0)) + 1
    starts, ends = np.append(0, cuts), np.append(cuts, size)
    order = dice.permutation(starts.size)
    length = (ends - starts)[order]
    offset = np.repeat(starts[order] - (np.cumsum(length) - length), length)
    return np.asarray(np.arange(size) + offset, dtype=np.int64)
