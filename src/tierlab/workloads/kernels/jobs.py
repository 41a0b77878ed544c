"""The jobs, and the users who ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from types import MappingProxyType
from typing import Any

from tierlab.workloads.sessions.description import state

NAME = "kernels"
ALL = "all"
READY_PATH = "/"
"""Answered without a job."""
SEEDS = (1, 1000)
"""A job's input is drawn from one of these, each as likely."""

SIZES: Mapping[str, int] = MappingProxyType(
    {
        "pipeline": 100_000_000,
        "data-parallel": 5_000_000,
        "barriers": 2_800,
        "many-locks": 1_000_000,
        "memory-streams": 50_000_000,
    }
)
"""At scale 1, in each kernel's unit; `apps/kernels/src/kernels`."""
SQUARED = frozenset({"barriers"})
"""Whose work grows with the square of the size."""

MIXES = (ALL, *SIZES)


def size(kernel: str, scale: float) -> int:
    """The size with `scale` times the work of scale 1."""
    return max(1, round(SIZES[kernel] * (sqrt(scale) if kernel in SQUARED else scale)))


def path(kernel: str) -> str:
    """Where it is asked for."""
    return f"/{kernel}"


def users(mix: str, scale: float) -> dict[str, Any]:
    """The workload description, in the driver's form: all kernels by chance, or one of them."""
    kernels = tuple(SIZES) if mix == ALL else (mix,)
    states = [
        state(
            kernel,
            path(kernel),
            {
                "size": {"constant": str(size(kernel, scale))},
                "seed": {"drawn": "{drawn}"},
            },
            draw={"from": {"numbers": SEEDS}},
        )
        for kernel in kernels
    ]
    onwards = [(kernel, 1 / len(kernels)) for kernel in kernels]
    return {
        "name": f"{NAME} {mix}",
        "home": kernels[0],
        "states": states,
        "sessions": [
            {
                "name": "user",
                "share": 1.0,
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": dict.fromkeys(kernels, onwards),
            }
        ],
        "rules": {},
    }
