"""Drawing one disturbance of class `"random"`: its class, server, duration and intensity."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

from tierlab.experiment.disturb import Random
from tierlab.experiment.disturb_classes import KINDS
from tierlab.experiment.disturbance import Disturbance
from tierlab.experiment.subjects import existing
from tierlab.experiment.system import System
from tierlab.servers.base import Server
from tierlab.values.quantities import BYTES, MIB, MILLISECOND

KIB = BYTES["KiB"]


def drawn_disturbance(table: Random, system: System, dice: random.Random) -> Disturbance:
    """One draw: each class as likely as another, then each server that it can disturb."""
    there = existing(system)
    reached = table.reaches(system)
    kind = dice.choice(list(reached))
    on = dice.choice(reached[kind])
    duration = evenly_by_logarithm(dice, table.shortest_ns, table.longest_ns, MILLISECOND)
    intensity = _INTENSITIES[kind](dice, there[on]) if kind in _INTENSITIES else {}
    if kind == "lock":
        intensity = {"table": dice.choice(table.lockable(system))}
    model = KINDS[kind]
    return model.model_construct(class_=kind, on=on, duration_ns=duration, **intensity)


def evenly_by_logarithm(dice: random.Random, least: int, most: int, step: int) -> int:
    """A number whose logarithm is uniform between those of `least` and `most`, in whole steps."""
    drawn = math.exp(dice.uniform(math.log(least), math.log(most)))
    return min(max(round(drawn / step) * step, least), most)


def _memory(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {
        "take": evenly_by_logarithm(dice, 200 * MIB, 800 * MIB, MIB),
        "request": evenly_by_logarithm(dice, 256 * KIB, 4 * MIB, 4 * KIB),
    }


def _cpu(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {
        "threads": evenly_by_logarithm(dice, 4, 32, 1),
        "pattern": dice.choice(["steady", "alternating"]),
        "where": dice.choice(["domain", "cores"]),
    }


def _disk(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {"write": evenly_by_logarithm(dice, MIB, 16 * MIB, KIB)}


def _checkpoint(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {"dirty": evenly_by_logarithm(dice, 8 * MIB, 32 * MIB, MIB)}


def _pool(dice: random.Random, on: type[Server]) -> dict[str, Any]:
    return {"resource": dice.choice(on.holdable)}


def _burst(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {"users": evenly_by_logarithm(dice, 150, 600, 1)}


def _network(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {"rate": evenly_by_logarithm(dice, KIB, 8 * KIB, KIB)}


def _loss(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {"share": evenly_by_logarithm(dice, 10, 100, 1) / 100}


def _quota(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {"cores": evenly_by_logarithm(dice, 5, 50, 1) / 1000}


def _weight(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {
        "weight": evenly_by_logarithm(dice, 2, 20, 1),
        "threads": evenly_by_logarithm(dice, 4, 32, 1),
    }


def _steal(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {"weight": evenly_by_logarithm(dice, 4096, 65_536, 1024)}


def _slow_clients(dice: random.Random, _on: type[Server]) -> dict[str, Any]:
    return {"clients": evenly_by_logarithm(dice, 300, 900, 1)}


_INTENSITIES: Mapping[str, Callable[[random.Random, type[Server]], dict[str, Any]]] = {
    "memory": _memory,
    "cpu": _cpu,
    "disk": _disk,
    "pool": _pool,
    "burst": _burst,
    "network": _network,
    "loss": _loss,
    "quota": _quota,
    "weight": _weight,
    "checkpoint": _checkpoint,
    "slow_clients": _slow_clients,
    "steal": _steal,
}
"""What a class draws of its own: strong enough to delay requests, over about a factor of ten."""
