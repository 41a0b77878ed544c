"""Raw visits of a made run, linked by the agent, and what that took."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from tierlab.observe.agent import binary

SERVERS = {"web.1": ["app.1"], "app.1": ["lb.1"], "lb.1": ["db.1"]}
STATEMENTS = 4
VISITS = 2 + 2 * STATEMENTS
"""Of a request."""
PER_SECOND = 5_000
BATCH = 5_000
COLUMNS = [
    "visit",
    "server",
    "protocol",
    "connection",
    "arrival_ns",
    "request_end_ns",
    "reply_start_ns",
    "departure_ns",
    "closed_ns",
    "may_wait_ns",
    "label",
    "status",
    "bytes_in",
    "bytes_out",
    "upstream",
    "id_hash",
    "literals",
    "endpoints",
]


def schema() -> pa.Schema:
    done = subprocess.run([binary(), "schema"], stdout=subprocess.PIPE, text=True, check=True)
    kinds: dict[str, pa.DataType] = {
        "Int64": pa.int64(),
        "Int32": pa.int32(),
        "UInt64": pa.uint64(),
        "Utf8": pa.string(),
    }
    fields = []
    declared = json.loads(done.stdout)["raw_visits"]
    assert set(declared) == set(COLUMNS)
    for name, kind in ((name, declared[name]) for name in COLUMNS):
        item = kinds.get(kind.rstrip("?"), pa.list_(pa.uint64()))
        fields.append(pa.field(name, item, nullable=kind.endswith("?")))
    return pa.schema(fields)


def batch(first: int, made: pa.Schema) -> pa.RecordBatch:
    """``BATCH`` requests with their visits at four tiers, in the order of departure."""
    request = np.arange(first, first + BATCH)
    ids = request.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    start = 1_700_000_000_000_000_000 + request * (1_000_000_000 // PER_SECOND)
    columns: dict[str, list[np.ndarray]] = {"arrival_ns": [], "departure_ns": [], "server": []}
    for depth, (tier, visits) in enumerate(
        {"web.1": 1, "app.1": 1, "lb.1": STATEMENTS, "db.1": STATEMENTS}.items()
    ):
        for turn in range(visits):
            columns["arrival_ns"].append(start + 1_000_000 * (turn + 1) + 10_000 * depth)
            length = 900_000 if visits > 1 else 10_000_000
            columns["departure_ns"].append(columns["arrival_ns"][-1] + length - 30_000 * depth)
            columns["server"].append(np.full(BATCH, tier))
    flat = {name: np.concatenate(parts) for name, parts in columns.items()}
    order = np.argsort(flat["departure_ns"], kind="stable")
    count = len(order)
    server = flat["server"][order]
    row = np.tile(request, count // BATCH)[order]
    is_db = server == "db.1"
    known: dict[str, Any] = {
        "visit": np.arange(count) + first * (count // BATCH),
        "server": server,
        "protocol": np.where(is_db | (server == "lb.1"), "mysql", "http1"),
        "connection": row % 64 + np.where(is_db, 1_000, 0),
        "arrival_ns": flat["arrival_ns"][order],
        "request_end_ns": flat["arrival_ns"][order],
        "reply_start_ns": flat["departure_ns"][order],
        "departure_ns": flat["departure_ns"][order],
        "closed_ns": pa.nulls(count, pa.int64()),
        "may_wait_ns": pa.nulls(count, pa.int64()),
        "label": np.where(is_db | (server == "lb.1"), "SELECT ?", "GET /page"),
        "status": np.zeros(count, np.int32),
        "bytes_in": np.full(count, 100),
        "bytes_out": np.full(count, 1_000),
        "upstream": pa.array((row % 64).astype(str), mask=~is_db),
        "id_hash": np.tile(ids, count // BATCH)[order],
        "literals": np.column_stack((row, row + 1)).tolist(),
        "endpoints": pa.array(row.astype(np.uint64)),
    }
    arrays = [pa.array(known[field.name], field.type) for field in made]
    return pa.RecordBatch.from_arrays(arrays, schema=made)


@dataclass(frozen=True)
class Linking:
    """What linking took: visits, seconds of wall and CPU time, bytes at most, visits not linked."""

    visits: int
    seconds: float
    cpu_s: float
    peak: int
    unlinked: int

    def __str__(self) -> str:
        return (
            f"{self.visits:,} visits in {self.seconds:.1f} s ({self.cpu_s:.1f} s of CPU), "
            f"{self.peak / 2**20:.0f} MiB"
        )


def link(requests: int, folder: Path) -> Linking:
    """Make the visits of so many requests in `folder`, and link them."""
    made = schema()
    raw = folder / "raw_visits.arrows"
    with pa.OSFile(str(raw), "wb") as file, ipc.new_stream(file, made) as stream:
        for first in range(0, requests, BATCH):
            stream.write_batch(batch(first, made))
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"input": str(raw), "servers": SERVERS}))
    began = time.monotonic()
    process = subprocess.Popen(
        [binary(), "link", "--plan", plan, "--out", folder], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    # Of this very child: RUSAGE_CHILDREN would be the largest of all that were ever started.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"linking ended with status {os.waitstatus_to_exitcode(status)}")
    summary = json.loads(printed.splitlines()[-1])["summary"]
    unlinked = sum(pair["unlinked"] for pair in summary["pairs"])
    return Linking(
        summary["visits"], seconds, summary["cpu_ns"] / 1e9, usage.ru_maxrss << 10, unlinked
    )
