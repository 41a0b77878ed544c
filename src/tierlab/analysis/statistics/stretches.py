"""Where does something hold without a break? What is marked, joined as far as it goes on."""

import numpy as np

from tierlab.analysis.query import Bools, Ints
from tierlab.analysis.result import Result


class Stretch(Result):
    """A stretch of time."""

    start_ns: int
    end_ns: int


def stretches(marked: Bools) -> Ints:
    """Return each stretch of True in order, a row: the index at which it begins, and the one after
    its last.

    >>> stretches(np.array([True, False, True, True])).tolist()
    [[0, 1], [2, 4]]
    """
    edges = np.diff(np.concatenate([[False], marked, [False]]))
    return np.flatnonzero(edges).reshape(-1, 2)
