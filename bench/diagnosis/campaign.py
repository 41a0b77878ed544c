"""The trials of a proof: random disturbances, pairs at once, too much load, and controls."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from systems import RUBBOS, System

LOADS = {"low": 0.1, "middle": 0.5, "high": 0.8}
"""Load levels, as shares of the capacity."""

START_S = {"low": 12, "middle": 20, "high": 40}
"""A cold start is an overload of its own: the more users, the more slowly they come."""

SETTLE_S = {"low": 0, "middle": 0, "high": 60}
"""Near capacity, first requests and the pages that sessions begin with are more than it can serve:
it is at its level only when that is over.
"""

GAP_S = {"low": 3.5, "middle": 3.5, "high": 6.0}
"""Least time from one disturbance's end to the next one's start: the more spare time the CPUs have,
the sooner what piled up is worked off.
"""

LONG_GAP_S = {"cold_cache": {"low": 16.0, "middle": 16.0, "high": 30.0}}
"""The same of what goes on when it has ended: the longest that was told of an emptied pool took
15.6 s to fill it again; near capacity what piles up meanwhile is worked off after half a minute.
Who falls into that is not alone (`_pairs` are for that).
"""

PAIR_S = 2.5
"""What a pair takes beside the gap: 1.1 s and some time to spare."""

SELDOM_FELT = ("cpu", "quota", "weight")
"""Drawn once more: many of these delay nobody, as CPUs are idle for most of the time."""

USERS = "(users)"
"""Stands for their number in a template."""

Kind = Literal["single", "pair", "overload", "control"]


@dataclass(frozen=True)
class Size:
    """How much is run. ``singles`` have each class once and those seldom felt twice; ``pairs`` so
    many pairs ``each``; ``overloads`` are trials of too many users; controls have no disturbance.
    """

    singles: int
    pairs: int
    control_s: int
    overloads: int = 0
    each: int = 14
    system: System = RUBBOS


FULL = Size(singles=30, pairs=3, control_s=630, overloads=25)
QUICK = Size(singles=1, pairs=1, control_s=60, overloads=1, each=9)


@dataclass(frozen=True)
class Planned:
    """One trial to be run: ``name`` is its experiment's, ``template`` its file but for how many
    users there are.
    """

    name: str
    kind: Kind
    load: str
    template: str
    users: int

    @property
    def text(self) -> str:
        """Its experiment file."""
        return self.template.replace(USERS, str(self.users))


def planned(size: Size, seed: int) -> Iterator[Planned]:
    """Return the trials, load levels in turn; every trial's seed follows from ``seed``."""
    levels = size.system.loads
    for index in range(size.singles):
        load = levels[index % len(levels)]
        runtime = _room_s(size, load)
        text = _file(f"single-{index}", load, seed + index, runtime, size) + _random(size, load)
        yield Planned(f"single-{index}", "single", load, text, _users(size, LOADS[load]))
    for index in range(size.pairs if size.system.paired else 0):
        load = levels[index % len(levels)]
        number = 10_000 + seed + index
        runtime = round(size.each * (GAP_S[load] + PAIR_S))
        text = _file(f"pair-{index}", load, number, runtime, size)
        text += _pairs(size, number, load)
        yield Planned(f"pair-{index}", "pair", load, text, _users(size, LOADS[load]))
    for index in range(size.overloads):
        yield _overload(f"overload-{index}", 30_000 + seed + index, size)
    for index, load in enumerate(levels):
        yield control(f"control-{index}", load, 20_000 + seed + index, size)


def control(name: str, load: str, seed: int, size: Size) -> Planned:
    """Return a trial without a disturbance."""
    text = _file(name, load, seed, size.control_s, size)
    return Planned(name, "control", load, text, _users(size, LOADS[load]))


def _users(size: Size, share: float) -> int:
    return round(share * size.system.capacity)


def _drawn(size: Size) -> list[str]:
    """Return the classes of a trial's random disturbances, first those that need the longest gaps:
    what is placed later finds its room among them.
    """
    classes = size.system.classes
    more = [kind for kind in SELDOM_FELT if kind in classes]
    kinds = (*classes * size.system.times, *more)
    return sorted(kinds, key=lambda kind: kind not in LONG_GAP_S)


def _gap_s(kind: str, load: str, system: System) -> float:
    return LONG_GAP_S.get(kind, GAP_S)[load] * system.slower


def _room_s(size: Size, load: str) -> int:
    """Return how long a trial's random disturbances need. They last half a second on average (of a
    slower system so much longer); placed at random, one after the other, they leave stretches free
    that are too short for another. Who keeps a longer gap than the others does so on both sides.
    """
    slower = size.system.slower
    gaps = [_gap_s(kind, load, size.system) for kind in _drawn(size)]
    longer = sum(gap - GAP_S[load] * slower for gap in gaps)
    return int(sum(1.2 * gap + slower for gap in gaps) + longer) + 6


def _file(name: str, load: str, seed: int, runtime_s: int, size: Size) -> str:
    start_s = round(START_S[load] * size.system.slower)
    seconds = (start_s, start_s + SETTLE_S[load], runtime_s)
    return _experiment(name, seed, size.system, seconds)


def _experiment(name: str, seed: int, system: System, seconds: tuple[int, int, int]) -> str:
    """Return the file of users who start within so many ``seconds``, for a ramp-up and a runtime of
    so many.
    """
    start_s, ramp_up_s, runtime_s = seconds
    mix = f'mix = "{system.mix}"\n' if system.mix else ""
    phases = f'ramp_up = "{ramp_up_s}s", runtime = "{runtime_s}s", ramp_down = "2s"'
    return f"""[experiment]
name = "{name}"
seed = {seed}

[system]
workload = "{system.workload}"
{system.system}
[load]
users = {USERS}
{mix}{system.load}start = "{start_s}s"
phases = {{ {phases} }}
"""


def _overload(name: str, seed: int, size: Size) -> Planned:
    """Return a trial of more users than can be served, or of as many that come all at once."""
    draw = random.Random(seed)
    if draw.random() < 0.5:
        times, ramp_up_s = draw.uniform(1.2, 1.8), draw.randint(10, 30)
    else:
        times, ramp_up_s = draw.uniform(0.9, 1.1), draw.randint(8, 15)
    text = _experiment(name, seed, size.system, (ramp_up_s, ramp_up_s, 40))
    return Planned(name, "overload", "beyond", text, _users(size, times))


def _random(size: Size, load: str) -> str:
    tables = f"tables = {[*size.system.tables]}\n" if size.system.tables else ""
    return "".join(
        f"""
[[disturb]]
class = "random"
classes = ["{kind}"]
gap = "{round(_gap_s(kind, load, size.system) * 1000)}ms"
{size.system.lengths}{tables if kind == "lock" else ""}"""
        for kind in _drawn(size)
    )


def _pairs(size: Size, seed: int, load: str) -> str:
    """Return pairs of different classes at different servers that begin 100 ms apart.

    A pool comes first: behind a database that stands still nobody would give its connections.
    """
    draw = random.Random(seed)
    kinds = size.system.paired
    apart_ms = round((GAP_S[load] + PAIR_S) * 1000)
    tables = []
    for index in range(size.each):
        while True:
            one, other = sorted(draw.sample(sorted(kinds), 2), key=lambda kind: kind != "pool")
            here, there = draw.choice(kinds[one]), draw.choice(kinds[other])
            if here != there:
                break
        at = 3000 + index * apart_ms
        for kind, subject, start in ((one, here, at), (other, there, at + 100)):
            length = draw.randint(300, 1000)
            table = ""
            if kind == "lock" and size.system.tables:
                table = f'table = "{draw.choice(size.system.tables)}"\n'
            tables.append(
                f'\n[[disturb]]\nclass = "{kind}"\non = "{subject}"\n'
                f'at = "{start}ms"\nduration = "{length}ms"\n{table}'
            )
    return "".join(tables)
