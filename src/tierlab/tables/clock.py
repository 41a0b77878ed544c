"""Two clocks: what a domain with a kernel of its own wrote down, on the time axis of the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

Ints = NDArray[np.int64]


class ClockReading(BaseModel):
    """How a domain's clock stood to the host's when it was read; all in nanoseconds.

    ``offset_ns`` is what is to be added to the domain's time to have the host's; the truth is no
    further from it than ``uncertainty_ns``, half of the round trip of the reading.
    """

    at_ns: int
    """By the host's clock, since the epoch."""
    offset_ns: int
    uncertainty_ns: int


def on_host(readings: Sequence[ClockReading], t_ns: Ints) -> Ints:
    """Move times of a domain's clock onto the host's.

    Between two readings the offset goes in a straight line, as clocks of slightly different speed
    part; before the first and after the last it stays. ValueError without any reading.
    """
    if not readings:
        raise ValueError("a clock that was never read cannot be compared")
    zero = readings[0]
    # Small numbers: a float has no room for nanoseconds since the epoch.
    at = [each.at_ns - each.offset_ns - (zero.at_ns - zero.offset_ns) for each in readings]
    more = [each.offset_ns - zero.offset_ns for each in readings]
    since = (t_ns - (zero.at_ns - zero.offset_ns)).astype(np.float64)
    moved = t_ns + zero.offset_ns + np.rint(np.interp(since, at, more)).astype(np.int64)
    return moved.astype(np.int64)
