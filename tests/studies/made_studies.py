"""Made runs that are what J. Park's thesis (Georgia Institute of Technology, 2016) saw, so that
every value of a study is known beforehand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.diagnosis.made_stall import (
    LENGTH,
    MS,
    SERVERS,
    STALL,
    START,
    TICK,
    Rows,
    make,
    manifest,
    traffic,
    usual,
    write,
)
from tierlab.tables.schemas import SCHEMAS

RETRY = 3_000 * MS
DROPPING = 150 * MS
"""From then on in the stall there is no more room."""
CONGESTED = 12_000 * MS
"""The first part of the run of two modes."""
SLOW = 2_500 * MS

THRASHING: Mapping[str, Rows] = {
    "domain": [{"subject": "db.1", "major_faults": 40, "refaults": 4_000}],
    "pressure": [
        {"subject": "db.1", "resource": "memory", "some": 0.9},
        {"subject": "db.1", "resource": "io", "some": 0.9},
    ],
    "cpu": [{"subject": "cpu1", "busy": 0.1, "iowait": 0.85}],
}


def transient(folder: Path, without: tuple[str, ...] = ()) -> Path:
    """Write a run in which the database thrashes for 300 ms, the queues climb, and the connection
    requests of its second half are dropped and sent again after 3 s.
    """
    (requests, visits), (usual_requests, usual_visits) = traffic("db.1"), traffic(None)
    dropped = {
        number: request
        for number, request in enumerate(usual_requests)
        if STALL[0] + DROPPING <= request["intended_ns"] < STALL[1]
    }
    each = len(visits) // len(requests)
    events: Rows = []
    for number, request in dropped.items():
        for name in ("connected_ns", "first_byte_ns", "end_ns"):
            request[name] += RETRY
        requests[number] = request
        mine = usual_visits[number * each : (number + 1) * each]
        for visit in mine:
            for name in ("arrival_ns", "request_end_ns", "departure_ns"):
                visit[name] += RETRY
        visits[number * each : (number + 1) * each] = mine
        detail = {"connection": mine[0]["connection"], "since_first_ns": RETRY}
        events.append(
            {"t_ns": request["intended_ns"] + RETRY, "kind": "syn_retransmission"}
            | {"subject": "web.1", "detail": json.dumps(detail)}
        )
    make(folder, "db.1", THRASHING, {"events": events})
    write(folder, "requests", requests)
    write(folder, "visits", visits)
    for name in without:
        (folder / f"{name}.parquet").unlink()
    return folder


def calm(folder: Path) -> Path:
    """Write a run in which nothing happens."""
    return make(folder, None)


def two_parts(folder: Path) -> Path:
    """Write a run whose database thrashes for its first 12 s, in which every third request takes
    2.5 s, and then no more.
    """
    folder.mkdir(parents=True)
    tables: dict[str, Rows] = {name: [] for name in SCHEMAS}
    tables["requests"], tables["visits"] = traffic(None)
    for number, request in enumerate(tables["requests"]):
        if request["intended_ns"] < START + CONGESTED - SLOW and number % 3 == 0:
            request["end_ns"] += SLOW
    for name, subjects in usual().items():
        for subject, row in subjects:
            tables[name] += _ticks(subject, row, THRASHING.get(name, []))
    for name, rows in tables.items():
        write(folder, name, rows)
    manifest().write(folder)
    return folder


def _ticks(subject: str, row: dict[str, Any], thrashing: Rows) -> Rows:
    others = [
        each
        for each in thrashing
        if each["subject"] == subject and each.get("resource") == row.get("resource")
    ]
    rows: Rows = []
    for end in range(START + TICK, START + LENGTH + 1, TICK):
        found = {"t_ns": end, "dt_ns": TICK, "subject": subject} | row
        # Not always the same: something has to be correlated.
        if end <= START + CONGESTED and (end // TICK) % 5:
            for other in others:
                found |= other
        rows.append(found)
    return rows


Make = Callable[[Path], Path]
__all__ = ["CONGESTED", "SERVERS", "Make", "calm", "transient", "two_parts"]
