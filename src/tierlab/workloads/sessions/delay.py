"""Delays between interactions in the driver's form, that of `agent/crates/drive/src/delay.rs`."""

from __future__ import annotations

from typing import Any

LONGEST = 5
"""A cycle time, in means, as Faban has it where nothing else is said."""
LONGEST_THINK = 10
"""A think time, in means, as TPC-W has it."""


def cycle(mean_ns: int, min_ns: int = 0) -> dict[str, Any]:
    """A cycle time, start to start: negative exponential, its curve shifted to the minimum."""
    return {
        "from": "start",
        "distribution": "negative_exponential",
        "mean_ns": mean_ns,
        "min_ns": min_ns,
        "max_ns": LONGEST * mean_ns,
    }


def think(mean_ns: int) -> dict[str, Any]:
    """A think time, end to start: negative exponential."""
    return {"from": "end", "mean_ns": mean_ns, "max_ns": LONGEST_THINK * mean_ns}


def with_cycle(users: dict[str, Any], mean_ns: int) -> dict[str, Any]:
    """A workload description with cycle times of this mean. Where it has delays of its own, all are
    changed in proportion, minima and maxima too.
    """
    if "delay" not in users:
        return users | {"delay": cycle(mean_ns)}
    usual = users["delay"]["mean_ns"]

    def scaled(delay: dict[str, Any]) -> dict[str, Any]:
        times = {key: delay[key] * mean_ns // usual for key in delay if key.endswith("_ns")}
        return delay | times

    states = [
        state | {"delay": scaled(state["delay"])} if "delay" in state else state
        for state in users["states"]
    ]
    return users | {"delay": scaled(users["delay"]), "states": states}


def without_delays(users: dict[str, Any]) -> dict[str, Any]:
    """A workload description that leaves it to the plan how long users think, where it has a delay
    for all of them; what single states of others say is theirs.
    """
    if "delay" not in users:
        return users
    states = [
        {key: value for key, value in state.items() if key != "delay"} for state in users["states"]
    ]
    rest = {key: value for key, value in users.items() if key != "delay"}
    return rest | {"states": states}
