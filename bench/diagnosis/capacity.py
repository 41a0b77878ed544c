"""How many users can this machine serve at most today? A proof's load levels are shares of it.

A shared machine gives twice as much on one day as on another: at "80 %" of what it gave once its
CPUs were 46 % busy, and 91 % on another day. So trials without a disturbance are run first, until
the CPUs are as busy as the highest level says: by the utilisation law (P. Denning and J. Buzen,
"The Operational Analysis of Queueing Network Models", 1978) N users who keep them a share U busy
are that share of those who would fill them. A request costs less the more come, and a machine gives
a few points more or less at any time: so each trial is nearer to the level than the ones before,
and what is found is between the two that are nearest.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import truth
from campaign import LOADS, Planned, Size, control
from conduct import TrialError, finished, run
from machine import BUSIER, HIGHEST, busy_share
from systems import System

LEVEL = LOADS[HIGHEST]
NEAR = 0.02
FAR = 0.1
FULL = 0.95
"""How many users CPUs that are as busy could serve they do not tell."""

LESS = 0.7
MOST_TRIALS = 4
RUNTIME_S = 30


def measured(
    system: System, seed: int, folder: Path, conduct: Callable[[Planned, Path], Path] = run
) -> int:
    """Return how many users of a system fill the CPUs; trials are kept below ``folder``.

    Ends the program where one fails, where four are all far from the level, or where the CPUs were
    not sampled.
    """
    busy: dict[int, float] = {}
    capacity = system.capacity
    for number in range(MOST_TRIALS):
        size = Size(0, 0, RUNTIME_S, system=replace(system, capacity=capacity))
        trial = control(f"capacity-{number}", HIGHEST, 40_000 + seed + number, size)
        try:
            made = conduct(trial, folder)
        except TrialError as failure:
            raise SystemExit(f"The capacity is not known: {failure}, or give --capacity.") from None
        share = busy_share(made, ())
        if share is None:
            raise SystemExit(f"{folder / trial.name}: the CPUs were not sampled; give --capacity.")
        print(f"{capacity * LEVEL:,.0f} users: CPUs {share:.0%} busy", file=sys.stderr, flush=True)
        busy[capacity] = share
        capacity = _between(busy)
        if abs(share - LEVEL) <= NEAR:
            break
    if min(abs(share - LEVEL) for share in busy.values()) > FAR:
        raise SystemExit(
            f"In none of {MOST_TRIALS} trials the CPUs were near {LEVEL:.0%} busy: the machine "
            "gives more at one time than at another. End what else runs on it, or give --capacity."
        )
    return capacity


def _between(busy: Mapping[int, float]) -> int:
    """Return for which capacity the CPUs would be as busy as the level says: between the nearest
    below and above it, else in proportion to the nearest.
    """
    below = max((each for each in busy if busy[each] <= LEVEL), default=None)
    above = min((each for each in busy if busy[each] > LEVEL), default=None)
    if below is not None and above is not None and below < above:
        return round(float(np.interp(LEVEL, [busy[below], busy[above]], [below, above])))
    nearest = min(busy, key=lambda each: (abs(busy[each] - LEVEL), each))
    return round(nearest * _more(busy[nearest]))


def _more(share: float) -> float:
    """Return by how many times as many users are at the level as keep the CPUs so busy."""
    return LESS if share >= FULL else LEVEL / share


def followed(trials: Iterable[Planned], folder: Path) -> Iterator[Planned]:
    """Yield the trials, each with as many users as the machine serves by then: what the CPUs say of
    the last trial at the highest level that was run below ``folder``. Within an hour a shared
    machine gave 40 % more, and less again. One at the highest level that was too busy to count for
    it is run once more, with fewer users. One that was tried before keeps the number that it had.
    """
    times = 1.0
    for trial in trials:
        for each in (trial, _once_more(trial)):
            users = _tried_with(folder / f"{each.name}.toml") or round(times * each.users)
            yield replace(each, users=users)
            made = finished(folder / each.name) if each.load == HIGHEST else None
            share = None if made is None else busy_share(made, truth.read(made))
            if share is None:
                break
            times *= _more(share)
            if share - LEVEL <= BUSIER:
                break


def _once_more(trial: Planned) -> Planned:
    """Return the same trial by another name: its disturbances are drawn alike."""
    name = f"{trial.name}-again"
    written = trial.template.replace(f'name = "{trial.name}"', f'name = "{name}"', 1)
    return replace(trial, name=name, template=written)


def _tried_with(file: Path) -> int | None:
    found = re.search(r"^users = (\d+)$", file.read_text(), re.MULTILINE) if file.exists() else None
    return None if found is None else int(found[1])
