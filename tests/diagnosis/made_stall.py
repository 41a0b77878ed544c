"""A made run of four tiers in which one server stalls once, with the samples of a stated cause.

Requests come every 20 ms and make two statements each. Whatever a stalled server would have done
in the stall it does at its end: the truth is known to the microsecond.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tierlab.tables.manifest import Exit, Manifest, Phase, ServerPart
from tierlab.tables.schemas import SCHEMAS

MS = 1_000_000
START = 1_700_000_000_000 * MS
LENGTH = 30_000 * MS
STALL = (START + 12_000 * MS, START + 12_300 * MS)
TICK = 50 * MS
SERVERS = {"web.1": "httpd", "app.1": "tomcat", "lb.1": "haproxy", "db.1": "mariadb"}

Rows = list[dict[str, Any]]


def make(
    folder: Path,
    stalled: str | None,
    samples: Mapping[str, Rows] | None = None,
    extra: Mapping[str, Rows] | None = None,
) -> Path:
    """Write a run folder. ``samples`` replace a table's columns for a subject within the stall:
    rows without times; ``extra`` are whole rows more (events).
    """
    folder.mkdir(parents=True, exist_ok=True)
    sampled, served = usual(), served_tables(stalled, STALL)
    for name, schema in SCHEMAS.items():
        rows = [*(safepoints() if name == "events" else []), *(extra or {}).get(name, [])]
        others = (samples or {}).get(name, [])
        parts = [served[name]] if name in served else []
        parts += [ticks(schema, subject, row, others) for subject, row in sampled.get(name, [])]
        whole = pa.concat_tables([*parts, table_of(schema, rows)])
        pq.write_table(whole, folder / f"{name}.parquet")
    manifest().write(folder)
    return folder


@cache
def served_tables(stalled: str | None, stall: tuple[int, int]) -> dict[str, pa.Table]:
    """Return the requests' and the visits' table."""
    rows = zip(("requests", "visits"), traffic(stalled, stall), strict=True)
    return {name: table_of(SCHEMAS[name], each) for name, each in rows}


def write(folder: Path, name: str, rows: Rows) -> None:
    """Write a table."""
    pq.write_table(table_of(SCHEMAS[name], rows), folder / f"{name}.parquet")


def table_of(schema: pa.Schema, rows: Rows) -> pa.Table:
    """Return rows as a table; a column that no row names is null, or zero where it may not be."""
    columns = []
    for field in schema:
        default = _default(field)
        columns.append(pa.array([row.get(field.name, default) for row in rows], field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def read(folder: Path, name: str) -> Rows:
    """Return a table's rows."""
    return pq.read_table(folder / f"{name}.parquet").to_pylist()


def _default(field: pa.Field) -> Any:
    if field.nullable:
        return None
    return "" if pa.types.is_string(field.type) else 0


def traffic(stalled: str | None, stall: tuple[int, int] = STALL) -> tuple[Rows, Rows]:
    """Return requests and visits, each 20 ms a request."""
    requests: Rows = []
    visits: Rows = []
    dice = np.random.default_rng(7)

    def after(server: str, t: int, work: int) -> int:
        work = int(work * dice.uniform(0.7, 1.3))
        if server == stalled and stall[0] <= t + work < stall[1]:
            return stall[1] + work
        return t + work

    def visit(server: str, label: str, span: tuple[int, int], parent: int | None) -> None:
        row = {"visit": len(visits), "server": server, "label": label, "parent": parent}
        row |= {"arrival_ns": span[0], "request_end_ns": span[0], "departure_ns": span[1]}
        visits.append(row | {"protocol": "x", "connection": len(visits)})

    for number in range(LENGTH // (20 * MS)):
        t = START + number * 20 * MS + int(dice.uniform(0, 5 * MS))
        calls: list[tuple[int, int, int, int]] = []
        app = after("web.1", t, MS // 2)
        at = after("app.1", app, MS)
        for _ in range(2):
            lb = at
            db = after("lb.1", lb, MS // 10)
            db_end = after("db.1", db, MS // 3)
            lb_end = after("lb.1", db_end, MS // 20)
            calls.append((lb, db, db_end, lb_end))
            at = after("app.1", lb_end, MS // 2)
        end = after("web.1", at, MS // 5)
        first = len(visits)
        visit("web.1", "GET /page", (t, end), None)
        visit("app.1", "GET /page", (app, at), first)
        for lb, db, db_end, lb_end in calls:
            visit("lb.1", "SELECT ?", (lb, lb_end), first + 1)
            visit("db.1", "SELECT ?", (db, db_end), len(visits) - 1)
        requests.append(
            {"user": number, "interaction": "Page", "intended_ns": t, "start_ns": t}
            | {"connected_ns": t, "first_byte_ns": end, "end_ns": end + MS // 10, "status": 200}
        )
    return requests, visits


def safepoints() -> Rows:
    """Return what a JVM logs every second while all is well."""
    what = {"kind": "safepoint", "subject": "app.1", "detail": "Cleanup", "duration_ns": MS // 5}
    return [{"t_ns": t} | what for t in range(START, START + LENGTH, 1000 * MS)]


def usual() -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """What each sampled table says of each subject while all is well."""
    domain = {"cpu_ns": 5 * MS, "throttled_ns": 0, "memory": 200 << 20, "major_faults": 0}
    domain |= {"memory_limit": 256 << 20, "weight": 1024, "throttled_periods": 0, "bytes_read": 0}
    pressed: list[tuple[str, dict[str, Any]]] = [
        (name, {"resource": resource, "some": 0.02})
        for name in ("host", *SERVERS)
        for resource in ("cpu", "memory", "io")
    ]
    gauge = {"in_use": 1, "waiting": 0}
    sent_again = {"retransmissions": 0, "spurious_retransmissions": 0, "syn_retransmissions": 0}
    sent_again |= {"listen_drops": 0}
    counters = {"threads_connected": 20, "threads_running": 1, "row_lock_waiting": 0}
    counters |= {"pages_flushed": 0, "data_reads": 0}
    return {
        "cpu": [(f"cpu{n}", {"busy": 0.2, "iowait": 0.0, "steal": 0.0}) for n in range(2)],
        "pressure": pressed,
        "domain": [(name, dict(domain)) for name in SERVERS],
        "listen": [(name, {"accept_queue": 0, "backlog": 100, "port": 1}) for name in SERVERS],
        "net": [("lo", {"queued_bytes": 0})],
        "soft": [
            ("app.1", {"resource": "pool", "limit": 64} | gauge),
            ("app.1", {"resource": "threads", "limit": 200} | gauge),
        ],
        "database": [("db.1", counters | {"table_lock_waiting": 0, "poll_ns": MS})],
        "memory": [("host", {"total": 8 << 30, "major_faults": 0})],
        "disk": [("vda", {"busy": 0.01, "queue_length": 0.0})],
        "tcp": [("ns", sent_again)],
        "process": [(name, {"process": 1, "name": "own", "state": "S"}) for name in SERVERS],
    }


def ticks(schema: pa.Schema, subject: str, row: dict[str, Any], others: Rows) -> pa.Table:
    """Return one row a tick; within the stall with what those of ``others`` that are about the same
    subject and resource replace.
    """
    usual_row: dict[str, Any] = {"dt_ns": TICK, "subject": subject} | row
    stalled_row = dict(usual_row)
    for other in others:
        if other["subject"] == subject and other.get("resource") == row.get("resource"):
            stalled_row |= other
    end = np.arange(START + TICK, START + LENGTH + 1, TICK)
    stalls = pa.array((STALL[0] <= end - TICK // 2) & (end - TICK // 2 < STALL[1]))
    columns = []
    for field in schema:
        values = (
            pa.scalar(each.get(field.name, _default(field)), field.type)
            for each in (stalled_row, usual_row)
        )
        columns.append(pa.array(end) if field.name == "t_ns" else pc.if_else(stalls, *values))
    return pa.Table.from_arrays(columns, schema=schema)


def manifest() -> Manifest:
    """The run's manifest."""
    return Manifest(
        experiment="made",
        trial="001",
        environment="native",
        workload="made",
        created_ns=START,
        servers={
            name: ServerPart(
                tier=name.partition(".")[0],
                server=kind,
                address="127.0.0.1",
                port=1,
                protocol="x",
                soft={"threads": 200},
            )
            for name, kind in SERVERS.items()
        },
        phases=[Phase(name="runtime", start_ns=START, end_ns=START + LENGTH)],
        exit=Exit(state="done"),
    )
