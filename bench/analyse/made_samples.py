"""A made run's samples and events: one row a tick and subject, busy where requests stall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from made_shape import MS, SECOND, Ints, Shape, blank, stall_left, write_tables

from tierlab.tables.manifest import ServerPart
from tierlab.tables.schemas import SCHEMAS

TICK = 50 * MS


@dataclass(frozen=True)
class Noise:
    """Draws of a value around its mean, one a tick."""

    dice: np.random.Generator
    ticks: int

    def share(self, mean: float) -> npt.NDArray[np.float64]:
        return np.clip(self.dice.normal(mean, mean / 3, self.ticks), 0, 1)

    def whole(self, mean: float, spread: float) -> Ints:
        return np.clip(self.dice.normal(mean, spread, self.ticks), 0, None).astype(np.int64)


def write_samples(
    folder: Path,
    shape: Shape,
    servers: Mapping[str, ServerPart],
    span: tuple[int, int],
    dice: np.random.Generator,
) -> None:
    """Write the samplers' tables: one row a tick and subject, busy where requests stall."""
    late = dice.exponential(40_000, (span[1] - span[0]) // TICK).astype(np.int64)
    t = span[0] + TICK * (1 + np.arange(len(late), dtype=np.int64)) + late
    dt = np.diff(t, prepend=span[0])
    stalled = stall_left(t - TICK // 2, shape) > 0
    noise = Noise(dice, len(t))
    rows: dict[str, list[tuple[str, dict[str, Any]]]] = {name: [] for name in SCHEMAS}
    for core in range(2):
        busy = np.where(stalled, 1.0, noise.share(0.5 - core * 0.1))
        wait = np.where(stalled, 0.9, noise.share(0.02))
        rows["cpu"].append(
            (f"cpu{core}", {"busy": busy, "user": busy * 0.7, "iowait": wait, "steal": 0.0})
        )
    faults = np.where(stalled, noise.whole(400, 50), 0)
    free = noise.whole(9e9, 1e8)
    memory = {"total": 25_276_850_176, "available": free, "dirty": noise.whole(2e7, 5e6)}
    rows["memory"].append(("host", {**memory, "major_faults": faults, "swapped_in": 0}))
    busy_disk = np.where(stalled, 0.99, noise.share(0.08))
    disk = {
        "bytes_read": np.where(stalled, 8_000_000, 0),
        "bytes_written": noise.whole(200_000, 90_000),
    }
    rows["disk"].append(("vda", {**disk, "busy": busy_disk, "queue_length": busy_disk * 3}))
    rows["net"].append(
        ("lo", {"bytes_in": noise.whole(500_000, 1e5), "bytes_out": noise.whole(500_000, 1e5)})
    )
    drops = np.where(stalled, dice.integers(0, 4, len(t)), 0)
    tcp = {
        "established": noise.whole(300, 20),
        "retransmissions": drops,
        "syn_retransmissions": drops,
    }
    tcp |= {"listen_overflows": drops, "listen_drops": drops}
    rows["tcp"].append(("netns", tcp))
    pressure = np.where(stalled, 0.8, noise.share(0.02))
    for resource in ("cpu", "memory", "io"):
        rows["pressure"].append(("host", {"resource": resource, "some": pressure, "full": None}))
    cores = {"web": 0.12, "app": 0.2, "lb": 0.1, "db": 0.4}
    for name, part in servers.items():
        cpu = (noise.share(cores.get(part.tier, 0.1)) * dt).astype(np.int64)
        usage = {"cpu_ns": cpu, "throttled_ns": 0, "memory": noise.whole(3e8, 1e6)}
        rows["domain"].append((name, {**usage, "major_faults": faults if part.tier == "db" else 0}))
        queue = np.where(stalled, 120, 0) if part.tier == "web" else 0
        place = {"address": part.address, "port": part.port, "backlog": 511}
        rows["listen"].append((name, {**place, "accept_queue": queue}))
        if part.tier == "db":
            rows["database"].append(
                (name, {"poll_ns": noise.whole(8e5, 1e5), "threads_running": 0})
            )
        if part.tier == "app":
            gauge = {"resource": "threads", "in_use": noise.whole(0, 0.5), "limit": 200}
            rows["soft"].append((name, gauge))
        process = {"process": part.port, "name": part.server, "run_ns": cpu, "wait_ns": cpu // 8}
        rows["process"].append((name, {**process, "resident": 300_000_000}))
    for name, subjects in rows.items():
        if subjects:
            _write_ticks(folder, name, t, dt, subjects)
    _write_events(folder, span, t[stalled])


def _write_ticks(
    folder: Path, name: str, t: Ints, dt: Ints, subjects: list[tuple[str, dict[str, Any]]]
) -> None:
    schema = SCHEMAS[name]
    rest = blank(schema)
    with pq.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd") as writer:
        for subject, columns in subjects:
            given = {**rest, **columns, "t_ns": t, "dt_ns": dt, "subject": subject}
            arrays = [
                pa.array(given[field.name]).cast(field.type)
                if isinstance(given[field.name], np.ndarray)
                else pa.repeat(pa.scalar(given[field.name], field.type), len(t))
                for field in schema
            ]
            writer.write_table(pa.table(arrays, schema=schema))


def _write_events(folder: Path, span: tuple[int, int], stalled: Ints) -> None:
    events = [
        {"t_ns": at, "kind": "syn_retransmission", "subject": "web.1", "detail": "127.128.0.9:4711"}
        for at in stalled.tolist()
    ]
    events.append({"t_ns": span[0], "duration_ns": span[1] - span[0], "kind": "phase"})
    events.append(
        {
            "t_ns": span[0] + SECOND * 9,
            "duration_ns": 7 * MS,
            "kind": "late_tick",
            "subject": "sample",
            "detail": "7 ms",
        }
    )
    write_tables(folder, {"events": events})
