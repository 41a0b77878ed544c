"""What was done to a trial on purpose, in a sentence: told after the diagnosis, never before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tierlab.tables import manifest as manifests
from tierlab.trial.truth import Happened, TruthFolder
from tierlab.values.quantities import format_size

Keys = Mapping[str, Any]


def told(run: Path) -> str:
    """The truth about a run in one sentence."""
    happened = TruthFolder.of(run).happened()
    if not happened:
        return "Nothing was done to it on purpose."
    runtime = manifests.read(run).phase("runtime")
    start_ns = None if runtime is None else runtime.start_ns
    return f"The truth: {'; '.join(_sentence(each, start_ns) for each in happened)}."


def _sentence(it: Happened, runtime_ns: int | None) -> str:
    if it.start_ns is None or it.end_ns is None:
        return f"class {it.class_} on {it.subject} was planned and did not happen"
    what = _DONE[it.class_](it.subject, it.intensity)
    sentence = f"{what} for {(it.end_ns - it.start_ns) / 1e6:.0f} ms"
    if runtime_ns is None:
        return sentence
    return f"{sentence}, {(it.start_ns - runtime_ns) / 1e9:.1f} s into the runtime"


def _cpu(on: str, keys: Keys) -> str:
    return f"a neighbour computed with {keys['threads']} threads on the cores of {on}"


def _lock(on: str, keys: Keys) -> str:
    rows = keys.get("rows")
    what = f"{rows} rows of {keys['table']}" if rows else f"the table {keys['table']}"
    return f"another client of {on} held {what} locked"


def _pool(on: str, keys: Keys) -> str:
    if keys["resource"] == "pool":
        return f"{keys['hold']} connections of the pool of {on} were held by somebody else"
    return f"{keys['hold']} {keys['resource']} of {on} were held by somebody else"


_DONE: Mapping[str, Callable[[str, Keys], str]] = {
    "memory": lambda on, keys: (
        f"another job in the memory of {on} took {format_size(keys['take'])}"
    ),
    "cpu": _cpu,
    "disk": lambda on, keys: (
        f"another job wrote {format_size(keys['write'])} at a time to the disk of {on}"
    ),
    "freeze": lambda on, _: f"{on} was stopped",
    "gc": lambda on, _: f"garbage was collected in {on}",
    "lock": _lock,
    "pool": _pool,
    "burst": lambda on, keys: f"{keys['users']} more users came to {on}",
    "network": lambda on, keys: (
        f"the network let only {format_size(keys['rate'])} a second into {on}"
    ),
    "loss": lambda on, keys: f"{keys['share']:.0%} of the packets to {on} were lost",
    "quota": lambda on, keys: f"{on} was left {keys['cores']:g} cores' CPU time",
    "restart": lambda on, _: f"the workers of {on} were restarted",
    "checkpoint": lambda on, keys: f"{on} wrote {format_size(keys['dirty'])} of changed pages",
    "cold_cache": lambda on, _: f"the buffer pool of {on} was emptied",
    "slow_clients": lambda on, keys: f"{keys['clients']} clients sent {on} their requests slowly",
    "steal": lambda on, keys: (
        f"a hypervisor ran another domain, of weight {keys['weight']} where 1024 is the usual, on"
        f" the PUs of {on}"
    ),
    "weight": lambda on, keys: (
        f"{on} weighed {keys['weight']}, where 1024 is the usual, beside {keys['threads']} threads "
        "that computed on its cores"
    ),
}
"""What a class does, by its keys as the agent has them."""
