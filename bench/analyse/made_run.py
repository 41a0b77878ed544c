"""Run folders made from a seed: as large as asked for, with tiers, stalls and retried requests.

The users are a true closed loop (think, ask, wait), visits nest as on four real tiers, and some
moments are disturbed, so that every figure has something to find. Only numpy and pyarrow are used;
nothing is taken from the code that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from made_load import write_load
from made_samples import TICK, write_samples
from made_shape import MS, SECOND, START_NS, Shape, write_tables

from tierlab.tables.manifest import Exit, Manifest, Observation, Phase, ServerPart

__all__ = ["MS", "SECOND", "START_NS", "Shape", "make", "manifest", "servers", "write_tables"]


def manifest(shape: Shape | None = None, **changes: Any) -> Manifest:
    """Return the manifest of a made run: ramp-up, runtime, ramp-down and four tiers."""
    shape = shape or Shape()
    ramp, run = 5 * SECOND, round(shape.seconds * SECOND)
    ends = [START_NS, START_NS + ramp, START_NS + ramp + run, START_NS + 2 * ramp + run]
    names = ("ramp_up", "runtime", "ramp_down")
    base: dict[str, Any] = {
        "experiment": "made",
        "trial": "001",
        "question": f"Where does the time go at {shape.users} users?",
        "environment": "native",
        "workload": "rubbos",
        "created_ns": START_NS,
        "seeds": {"run": shape.seed},
        "versions": {"tierlab": "0.1.0", "httpd": "2.4.62", "tomcat": "10.1.55"},
        "host": {
            "kernel": "6.1.0-28-amd64",
            "cpu": {"model": "AMD EPYC", "cores": 2, "governor": "performance"},
            "memory": 25_276_850_176,
            "clock_source": "tsc",
        },
        "servers": servers(shape.databases),
        "load": {"users": shape.users, "mix": "read-write", "think_ns": 7 * SECOND},
        "mapping": {"asked": {"db.1": "0"}, "read_back": {"db.1": "0"}},
        "phases": [
            Phase(name=name, start_ns=ends[i], end_ns=ends[i + 1]) for i, name in enumerate(names)
        ],
        "observation": Observation(
            interval_ns=TICK,
            cpu_source="cpuacct.usage_percpu",
            costs={"drive": round(run * 0.08), "sample": round(run * 0.006), "capture": run // 100},
        ),
        "not_measured": {"counters": "this machine has no hardware performance counters"},
        "exit": Exit(state="done"),
    }
    return Manifest.model_validate({**base, **changes})


def servers(databases: int = 1) -> dict[str, ServerPart]:
    """Return the servers of the four tiers."""

    def part(tier: str, server: str, address: str, port: int, protocol: str, **soft: int) -> Any:
        return ServerPart(
            tier=tier, server=server, address=address, port=port, protocol=protocol, soft=soft
        )

    found = {
        "web.1": part("web", "httpd", "127.0.1.1", 8080, "http", threads=256, backlog=511),
        "app.1": part("app", "tomcat", "127.0.2.1", 8009, "ajp", threads=200, pool=50),
        "lb.1": part("lb", "haproxy", "127.0.3.1", 3306, "mysql", max_connections=400),
    }
    for n in range(1, databases + 1):
        found[f"db.{n}"] = part("db", "mariadb", f"127.0.4.{n}", 3306, "mysql", max_connections=300)
    return found


def make(folder: Path, shape: Shape, manifest_changes: Mapping[str, Any] | None = None) -> Manifest:
    """Write a whole run folder and return its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    made = manifest(shape, **(manifest_changes or {}))
    span = (made.phases[0].start_ns, made.phases[-1].end_ns)
    dice = np.random.default_rng(shape.seed)
    write_load(folder, shape, span, dice)
    write_samples(folder, shape, made.servers, span, dice)
    made.write(folder)
    return made
