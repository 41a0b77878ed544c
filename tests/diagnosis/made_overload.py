"""A made run of three tiers on two CPUs whose demand is beyond capacity for ten seconds.

Before and after, 50 requests a second are served within 10 ms. Within, 80 a second end, all that
the CPUs are good for, and they take longer and longer, up to two seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tierlab.tables.manifest import Exit, Manifest, Phase, ServerPart
from tierlab.tables.schemas import SCHEMAS

from .made_stall import MS, START, TICK, Rows, write

LENGTH = 30_000 * MS
FULL = (START + 8_000 * MS, START + 18_000 * MS)
USUAL_RATE, MOST = 50, 80
THINK_S = 7.0
SERVERS = ("web.1", "app.1", "db.1")
COST_S = {"web.1": 0.004, "app.1": 0.014, "db.1": 0.0055}
"""CPU time of a visit; 80 a second take 1.88 cores, and the laboratory the rest."""


def make(
    folder: Path, *, cold: float = 1.0, dear: str | None = None, pus: int = 2, slower: float = 1.0
) -> Path:
    """Write the run folder. ``cold`` is how many times what they cost later visits cost up to the
    end of the stretch; ``dear`` a label that half of the visits' time at app.1 went to within it.
    On more ``pus`` each visit costs as much more, and in it on ``slower`` ones.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Rows] = {name: [] for name in SCHEMAS}
    for end in range(START + TICK, START + LENGTH + 1, TICK):
        _tick(tables, end, cold, pus)
    for number, (start, end, label) in enumerate(_requests(dear, slower)):
        _request(tables, number, start, end, label)
    for name, rows in tables.items():
        write(folder, name, rows)
    manifest().write(folder)
    return folder


def is_full(t: int) -> bool:
    return FULL[0] <= t < FULL[1]


def _tick(tables: dict[str, Rows], end: int, cold: float, pus: int) -> None:
    full = is_full(end - TICK // 2)
    tick: dict[str, Any] = {"t_ns": end, "dt_ns": TICK}
    for n in range(pus):
        share = {"busy": 1.0 if full else 0.62, "steal": 0.0}
        tables["cpu"].append(tick | {"subject": f"cpu{n}"} | share)
    warm = end > FULL[1]
    for name in SERVERS:
        rate = MOST if full else USUAL_RATE
        used = int(rate * COST_S[name] * pus / 2 * TICK / (cold if warm else 1.0))
        tables["domain"].append(
            tick
            | {"subject": name, "cpu_ns": used, "throttled_ns": 0, "weight": 1024}
            | {"major_faults": 0, "refaults": 0}
        )
        own = {"process": 1, "name": "own", "run_ns": used}
        tables["process"].append(tick | {"subject": name} | own)
        for resource in ("cpu", "memory", "io"):
            share = {"some": 0.95 if full and resource == "cpu" else 0.02}
            tables["pressure"].append(tick | {"subject": name, "resource": resource} | share)
    gauge = {"resource": "pool", "limit": 64, "in_use": 64 if full else 2}
    gauge |= {"waiting": 90 if full else 0}
    tables["soft"].append(tick | {"subject": "app.1"} | gauge)


def _requests(dear: str | None, slower: float) -> list[tuple[int, int, str]]:
    """When each began and ended, and what it asked for."""
    found = []
    at = START
    while at < START + LENGTH - 100 * MS:
        if is_full(at):
            label = dear if dear and len(found) % 2 else "GET /page"
            found.append((at - min(2_000 * MS, (at - FULL[0]) // 2 + 10 * MS), at, label))
            at += round(1_000 * MS / MOST * slower)
        else:
            found.append((at, at + 10 * MS, "GET /page"))
            at += 1_000 * MS // USUAL_RATE
    return found


def _request(tables: dict[str, Rows], number: int, start: int, end: int, label: str) -> None:
    third = (end - start) // 3
    for depth, name in enumerate(SERVERS):
        came, left = start + depth * third // 3, end - depth * third // 3
        row = {"visit": 3 * number + depth, "server": name, "label": label, "protocol": "x"}
        row |= {"arrival_ns": came, "request_end_ns": came, "departure_ns": left}
        row |= {"parent": 3 * number + depth - 1 if depth else None, "connection": number}
        tables["visits"].append(row)
    tables["requests"].append(
        {"user": number % 600, "interaction": "Page", "intended_ns": start, "start_ns": start}
        | {"connected_ns": start, "first_byte_ns": end, "end_ns": end, "status": 200}
    )


def manifest() -> Manifest:
    part = {"address": "127.0.0.1", "port": 1, "protocol": "x", "server": "own"}
    return Manifest(
        experiment="made",
        trial="001",
        environment="native",
        workload="made",
        created_ns=START,
        load={"users": 700, "think_ns": int(THINK_S * 1e9)},
        servers={
            name: ServerPart.model_validate({**part, "tier": name.partition(".")[0]})
            for name in SERVERS
        },
        phases=[Phase(name="runtime", start_ns=START, end_ns=START + LENGTH)],
        exit=Exit(state="done"),
    )
