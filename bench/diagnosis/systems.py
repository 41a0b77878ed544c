"""The systems that a proof can be made on."""

from __future__ import annotations

from dataclasses import dataclass

ANYWHERE = ("burst", "cpu", "disk", "freeze", "loss", "memory", "network", "quota", "weight")


@dataclass(frozen=True)
class System:
    """A workload, the mix of its users, how many of them two cores serve at most once all is warm,
    and the classes of disturbance that can be injected into it. ``paired`` are the servers at
    which one of two at once may happen, by class.
    """

    workload: str
    mix: str
    capacity: int
    classes: tuple[str, ...]
    paired: dict[str, list[str]]


RUBBOS = System(
    "rubbos",
    "read-write",
    6500,  # 911 to 1,051 requests/s at saturation, thinking for 7 s, on a machine that others used
    tuple(
        sorted(
            {*ANYWHERE, "checkpoint", "cold_cache", "gc", "lock", "pool", "restart", "slow_clients"}
        )
    ),
    {
        "freeze": ["web.1", "app.1", "lb.1", "db.1"],
        "gc": ["app.1"],
        "lock": ["db.1"],
        "memory": ["db.1"],
        "pool": ["app.1"],
        "cpu": ["web.1", "app.1", "db.1"],
    },
)
RUBIS = System(
    "rubis",
    "bidding",
    7500,  # 857 requests/s of 6,000 users kept two cores 74 % busy; 8,000 wait for a CPU
    # Nothing collects garbage.
    tuple(sorted({*ANYWHERE, "checkpoint", "cold_cache", "lock", "pool"})),
    {
        "freeze": ["web.1", "app.1", "db.1"],
        "lock": ["db.1"],
        "memory": ["db.1"],
        "pool": ["app.1"],
        "cpu": ["web.1", "app.1", "db.1"],
        "quota": ["web.1", "app.1", "db.1"],
    },
)
SYSTEMS = {each.workload: each for each in (RUBBOS, RUBIS)}
