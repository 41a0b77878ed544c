"""Were two groups of trials made in turns, so that what drifts on the machine is in both alike?

A machine's pace changes slowly: of two trials, the nearer in time are the more alike. Where the
groups were made in turns (repetitions of an experiment's combinations are), each trial of the one
has a neighbour of the other, and the two differ by what was asked for and by little else: complete
blocks of two (R. A. Fisher, "The Design of Experiments", 1935). How much alike neighbours differ is
seen in pairs of alike trials that are as far apart in time.

When trials were made says whether they are paired, never what came of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tierlab.analysis.query import Floats

NEIGHBOURS = 0.8
"""Least share of the trials that have a neighbour of the other group, where they were made in
turns. A trial whose neighbour failed has none.
"""
SLACK = 0.8
"""Alike trials that are as far apart as this share of what the pairs are tell of as much drift."""
FEWEST_PAIRS = 2
"""One trial after the other is not yet in turns."""
FARTHEST = 2.5
"""Those that are more than so many times as far apart tell of another one."""
Start = int | None
"""When a trial began, in nanoseconds; None where that is not known."""


@dataclass(frozen=True)
class Turns:
    """Pairs of neighbours, (place in the first group, place in the second), and the longest time
    from the one to the other.
    """

    pairs: tuple[tuple[int, int], ...]
    apart_ns: int

    def of(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """A figure of both groups' trials as those of neighbours, the one beside the other."""
        places = np.array(self.pairs)
        return first[places[:, 0]], second[places[:, 1]]


def in_turns(first: Sequence[Start], second: Sequence[Start]) -> Turns | None:
    """Pair the trials of two groups that were made in turns; None where they were not, where not
    every start is known, and where two are the same.
    """
    made = sorted(
        (start, group, place)
        for group, starts in enumerate((first, second))
        for place, start in enumerate(starts)
        if start is not None
    )
    all_known = len(made) == len(first) + len(second)
    if not all_known or any(one[0] == other[0] for one, other in pairwise(made)):
        return None
    pairs, apart_ns, at = [], 0, 0
    while at + 1 < len(made):
        (start, group, place), (next_start, next_group, next_place) = made[at : at + 2]
        if group == next_group:
            at += 1
            continue
        pairs.append((place, next_place) if group == 0 else (next_place, place))
        apart_ns = max(apart_ns, next_start - start)
        at += 2
    if len(pairs) < FEWEST_PAIRS or 2 * len(pairs) < NEIGHBOURS * len(made):
        return None
    return Turns(tuple(pairs), apart_ns)


def alike_pairs(starts: Sequence[Start], apart_ns: int) -> list[tuple[int, int]]:
    """Pair alike trials that are about so far apart in time, each with one other at most: places
    of the earlier and the later. Nearer ones would tell of too little drift, so some are farther.
    """
    known = sorted((start, place) for place, start in enumerate(starts) if start is not None)
    taken: set[int] = set()
    found = []
    for at, (start, place) in enumerate(known):
        if place in taken:
            continue
        for later, other in known[at + 1 :]:
            far_ns = later - start
            if other not in taken and SLACK * apart_ns <= far_ns <= FARTHEST * apart_ns:
                taken |= {place, other}
                found.append((place, other))
                break
    return found
