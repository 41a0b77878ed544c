"""The trials of a proof: random disturbances, pairs at once, and undisturbed controls."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

LOADS = {"low": 300, "middle": 700, "high": 1100}
"""Users by load level: some 6, 15 and 25 % of what the machine serves at most."""

Kind = Literal["single", "pair", "control"]

RAMP_UP_S = 12


@dataclass(frozen=True)
class Size:
    """How much is run. ``each`` disturbances a trial; controls have no disturbance at all."""

    singles: int
    pairs: int
    control_s: int
    each: int = 14
    gap_s: float = 3.5


FULL = Size(singles=15, pairs=3, control_s=630)
QUICK = Size(singles=1, pairs=1, control_s=60, each=9)


@dataclass(frozen=True)
class Planned:
    """One trial to be run: ``name`` is its experiment's."""

    name: str
    kind: Kind
    load: str
    text: str


def planned(size: Size, seed: int) -> Iterator[Planned]:
    """Return the trials, load levels in turn; every trial's seed follows from ``seed``."""
    levels = list(LOADS)
    for index in range(size.singles):
        load = levels[index % len(levels)]
        runtime = int(size.each * (size.gap_s + 1.2)) + 6
        text = _file(f"single-{index}", load, seed + index, runtime) + _random(size)
        yield Planned(f"single-{index}", "single", load, text)
    for index in range(size.pairs):
        load = levels[index % len(levels)]
        number = 10_000 + seed + index
        text = _file(f"pair-{index}", load, number, 6 * size.each) + _pairs(size.each, number)
        yield Planned(f"pair-{index}", "pair", load, text)
    for index, load in enumerate(levels):
        text = _file(f"control-{index}", load, 20_000 + seed + index, size.control_s)
        yield Planned(f"control-{index}", "control", load, text)


def _file(name: str, load: str, seed: int, runtime_s: int) -> str:
    return f"""[experiment]
name = "{name}"
seed = {seed}

[system]
workload = "rubbos"

[load]
users = {LOADS[load]}
mix = "read-write"
phases = {{ ramp_up = "{RAMP_UP_S}s", runtime = "{runtime_s}s", ramp_down = "2s" }}
"""


def _random(size: Size) -> str:
    return f"""
[[disturb]]
class = "random"
count = {size.each}
gap = "{round(size.gap_s * 1000)}ms"
"""


def _pairs(count: int, seed: int) -> str:
    """Return pairs of different classes at different servers that begin 100 ms apart.

    A pool comes first: behind a database that stands still nobody would give its connections.
    """
    draw = random.Random(seed)
    kinds = {
        "freeze": ["web.1", "app.1", "lb.1", "db.1"],
        "gc": ["app.1"],
        "lock": ["db.1"],
        "memory": ["db.1"],
        "pool": ["app.1"],
        "cpu": ["web.1", "app.1", "db.1"],
    }
    tables = []
    for index in range(count):
        while True:
            one, other = sorted(draw.sample(sorted(kinds), 2), key=lambda kind: kind != "pool")
            here, there = draw.choice(kinds[one]), draw.choice(kinds[other])
            if here != there:
                break
        at = 3000 + index * 6000
        for kind, subject, start in ((one, here, at), (other, there, at + 100)):
            length = draw.randint(300, 1000)
            tables.append(
                f'\n[[disturb]]\nclass = "{kind}"\non = "{subject}"\n'
                f'at = "{start}ms"\nduration = "{length}ms"\n'
            )
    return "".join(tables)
