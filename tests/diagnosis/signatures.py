"""What each cause looks like in the tables of a made run, and what is said of one."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq

from tierlab.analysis.observed import observe
from tierlab.diagnosis import Diagnosis, diagnose
from tierlab.tables.run import Run

from . import made_stall
from .made_stall import MS, STALL, Rows

Signature = tuple[str, str, dict[str, Rows], dict[str, Rows]]


def pressed(subject: str, resource: str, share: float) -> Rows:
    return [{"subject": subject, "resource": resource, "some": share}]


def idle(subject: str, **columns: Any) -> Rows:
    return [{"subject": subject, "cpu_ns": 0} | columns]


PAUSE = {
    "t_ns": STALL[0],
    "duration_ns": STALL[1] - STALL[0],
    "kind": "gc",
    "subject": "app.1",
    "detail": "Pause Full (System.gc())",
}
SIGNATURES: dict[str, Signature] = {
    "freeze of the database": (
        *("freeze", "db.1"),
        {"domain": idle("db.1", threads_stopped=30, threads_blocked=0)},
        {},
    ),
    "freeze of the balancer": (
        *("freeze", "lb.1"),
        {"domain": idle("lb.1", threads_stopped=2, threads_blocked=0)},
        {},
    ),
    "garbage collection": (
        *("gc", "app.1"),
        {"domain": [{"subject": "app.1", "cpu_ns": 50 * MS}]},
        {"events": [PAUSE]},
    ),
    "table lock": (
        *("lock", "db.1"),
        {
            "domain": idle("db.1", threads_stopped=0),
            "database": [{"subject": "db.1", "table_lock_waiting": 9}],
        },
        {},
    ),
    "memory": (
        *("memory", "db.1"),
        {
            "domain": [{"subject": "db.1", "major_faults": 40}],
            "pressure": pressed("db.1", "memory", 0.8) + pressed("db.1", "io", 0.8),
        },
        {},
    ),
    "memory by few faults that read much": (
        *("memory", "db.1"),
        {
            "domain": [{"subject": "db.1", "major_faults": 3, "refaults": 1_000}],
            "pressure": pressed("db.1", "memory", 0.5) + pressed("db.1", "io", 0.9),
        },
        {},
    ),
    "memory that none is read back of": (
        *("memory", "db.1"),
        {
            "domain": [{"subject": "db.1", "memory": 256 << 20, "cpu_ns": 45 * MS}],
            "pressure": pressed("db.1", "memory", 0.2) + pressed("db.1", "cpu", 0.95),
            "cpu": [{"subject": f"cpu{n}", "busy": 1.0} for n in range(2)],
        },
        {},
    ),
    "disk": ("disk", "db.1", {"pressure": pressed("db.1", "io", 0.9)}, {}),
    "checkpoint that the database tells of": (
        *("checkpoint", "db.1"),
        {
            "pressure": pressed("db.1", "io", 0.9),
            "database": [{"subject": "db.1", "checkpoints_running": 1}],
        },
        {},
    ),
    "checkpoint that is seen by the pages that are written": (
        *("checkpoint", "db.1"),
        {
            "pressure": pressed("db.1", "io", 0.9),
            "database": [{"subject": "db.1", "pages_flushed": 60}],
        },
        {},
    ),
    "cold cache": (
        *("cold_cache", "db.1"),
        {
            "pressure": pressed("db.1", "io", 0.9),
            "database": [{"subject": "db.1", "data_reads": 100}],
            "domain": [{"subject": "db.1", "bytes_read": 1 << 20}],
        },
        {},
    ),
    "neighbour in the domain": (
        *("cpu", "app.1"),
        {
            "domain": [{"subject": "app.1", "cpu_ns": 95 * MS}],
            "pressure": pressed("app.1", "cpu", 0.95),
            "cpu": [{"subject": f"cpu{n}", "busy": 1.0} for n in range(2)],
        },
        {},
    ),
    "neighbour on the cores": (
        *("cpu", "db.1"),
        {
            "pressure": pressed("db.1", "cpu", 0.9),
            "cpu": [{"subject": f"cpu{n}", "busy": 1.0} for n in range(2)],
        },
        {},
    ),
    "shrunk pool": (
        *("pool", "app.1"),
        {
            "soft": [
                {"subject": "app.1", "resource": "pool", "limit": 1, "in_use": 1, "waiting": 12}
            ],
            "domain": idle("app.1", threads_stopped=0),
        },
        {},
    ),
    "held workers": (
        *("pool", "web.1"),
        {
            "listen": [{"subject": "web.1", "accept_queue": 14}],
            "domain": idle("web.1", threads_stopped=0),
        },
        {},
    ),
}


def processes(lives: dict[int, tuple[int, int]]) -> Rows:
    """Return what is seen each second of web.1's processes, by their numbers and when they live."""
    return [
        {"t_ns": t, "dt_ns": 1000 * MS, "subject": "web.1", "process": number, "name": "httpd"}
        | {"run_ns": MS, "state": "S"}
        for t in range(made_stall.START + 500 * MS, made_stall.START + made_stall.LENGTH, 1000 * MS)
        for number, (born, died) in lives.items()
        if born <= t < died
    ]


def diagnosed(folder) -> Diagnosis:
    return diagnose(observe(Run(folder)))


def more_visits(folder, rows: Rows) -> None:
    known = pq.read_table(folder / "visits.parquet").to_pylist()
    first = len(known)
    numbered = [row | {"visit": first + n, "connection": first + n} for n, row in enumerate(rows)]
    made_stall.write(folder, "visits", known + numbered)
