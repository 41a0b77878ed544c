"""What was written inside the guests, made part of the trial's own streams: on the host's clock,
and named after the server that each guest is for.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa

from tierlab.observe.inside import streams_of
from tierlab.tables.clock import ClockReading, on_host
from tierlab.tables.folder import RunFolder
from tierlab.tables.manifest import Manifest
from tierlab.tables.schemas import INSIDE, STREAMS, TABLES
from tierlab.tables.streams import Stream

CUT = "its writer was killed: the last batch is missing"


def bring_out(folder: RunFolder, manifest: Manifest) -> None:
    """Write each guest's streams anew beside the host's; the guests' own are then removed.

    Tables that are of the server itself (``listen``, ``database``, ``cache``, ``events``) become
    part of the host's; the others are tables of their own, ``inside_cpu`` and so on.
    """
    inside = streams_of(folder)
    for place in sorted(inside.glob("*/")):
        server, readings = place.name, manifest.clocks.get(place.name)
        if not readings:
            reason = "its domain's clock could not be read"
            manifest.not_measured[f"tables seen inside of {server}"] = reason
            continue
        for path in sorted(place.glob("*.arrows")):
            name = path.stem.rpartition(".")[2]
            table = f"inside_{name}" if f"inside_{name}" in INSIDE else name
            target = folder.streams / f"{server}.{table}.arrows"
            # A guest elsewhere has another host than this one, and may be moved to a third.
            schema = (TABLES if manifest.elsewhere else STREAMS)[table]
            if _rewrite(path, target, schema, server, readings):
                manifest.not_measured[f"{table} of {server} (end)"] = CUT
    shutil.rmtree(inside, ignore_errors=True)


def _rewrite(
    path: Path, target: Path, schema: pa.Schema, server: str, readings: list[ClockReading]
) -> bool:
    """Write a stream anew; say whether it ended before its end mark."""
    stream = Stream(path)
    with pa.OSFile(str(target), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        for batch in stream.batches():
            writer.write_batch(_on_host(batch, schema, server, readings))
    return stream.truncated


def _on_host(
    batch: pa.RecordBatch, schema: pa.Schema, server: str, readings: list[ClockReading]
) -> pa.RecordBatch:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    times = columns["t_ns"].to_numpy().astype(np.int64)
    columns["t_ns"] = pa.array(on_host(readings, times), pa.int64())
    subjects = columns["subject"].to_pylist()
    named = [name if name == server else f"{server}/{name}" for name in subjects]
    columns["subject"] = pa.array(named, pa.string())
    columns.setdefault("host", pa.nulls(batch.num_rows, pa.string()))
    return pa.RecordBatch.from_arrays(
        [columns[field.name].cast(field.type) for field in schema], schema=schema
    )
