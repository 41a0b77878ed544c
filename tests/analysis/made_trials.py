"""Trials drawn from a known law, cut into blocks: the oracle for comparing them.

A trial's speed has four parts that are not the same to a comparison: a warm-up that all trials
have, a wander within the trial, a constant of its own by which alike trials differ, and the speed
that the machine happened to have, which is the driver's too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.comparing.blocks import BINS, Blocks, bin_of

SECONDS = 60
RATE = 40
MEDIANS_S = {"home": 0.004, "story": 0.008, "search": 0.030}
WANDER = 0.02
"""From second to second; it makes a minute's figure vary by 0.5 %, as RUBBoS' does."""
WARM_UP = 0.3
"""How much slower the first second is than the last ones."""


@dataclass(frozen=True)
class Law:
    """What trials are drawn from; ``slower`` is the truth that a comparison is to find."""

    slower: float = 1.0
    rate: int = RATE
    between: float = 0.008
    """By how much alike trials differ: a standard deviation of the logarithm."""
    machine: float = 0.02
    """By how much the machine's speed differs from trial to trial: the same."""
    warm_up: float = WARM_UP

    def trial(self, random: np.random.Generator) -> Blocks:
        """Draw one."""
        machine = random.normal(0, self.machine)
        own = np.log(self.slower) + random.normal(0, self.between) + machine
        log_speed = own + self.warm_up * np.exp(-np.arange(SECONDS) / 15) + _wander(random)
        times, time_s = {}, np.zeros(SECONDS)
        for name, median_s in MEDIANS_S.items():
            block = np.repeat(np.arange(SECONDS), random.poisson(self.rate, SECONDS))
            took = median_s * np.exp(log_speed[block] + random.normal(0, 0.5, block.size))
            cells = np.bincount(block * BINS + bin_of(took), minlength=SECONDS * BINS)
            times[name] = cells.reshape(SECONDS, BINS).astype(np.float64)
            time_s += np.bincount(block, took, minlength=SECONDS)
        done = np.sum([each.sum(axis=1) for each in times.values()], axis=0)
        return Blocks(
            seconds=1.0,
            done=done,
            failed=np.zeros(SECONDS),
            time_s=time_s,
            times=times,
            cpu_s={"db.1": done * 0.002 * np.exp(own + random.normal(0, 0.05, SECONDS))},
            major_faults={"db.1": random.poisson(3, SECONDS).astype(np.float64)},
            driver_s=done * 0.0005 * np.exp(machine + random.normal(0, 0.02, SECONDS)),
        )

    def trials(self, random: np.random.Generator, count: int) -> list[Blocks]:
        """Draw so many."""
        return [self.trial(random) for _ in range(count)]


def _wander(random: np.random.Generator) -> np.ndarray:
    steps = random.normal(0, WANDER, SECONDS)
    found = np.zeros(SECONDS)
    for index in range(1, SECONDS):
        found[index] = 0.5 * found[index - 1] + steps[index]
    return found
