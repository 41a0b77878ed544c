"""What is common to the parts of a made run: its size, its times, its stalls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tierlab.tables.schemas import TABLES

Ints = npt.NDArray[np.int64]
START_NS = 1_790_000_000_000_000_000
SECOND = 1_000_000_000
MS = 1_000_000


@dataclass(frozen=True)
class Shape:
    """How large a made run is."""

    requests: int = 3_000
    users: int = 350
    think_s: float = 7.0
    databases: int = 1
    seed: int = 1
    stall_every_s: float = 20.0
    stall_s: float = 0.35

    @property
    def seconds(self) -> float:
        """The runtime that so many requests take."""
        return self.requests / self.users * (self.think_s + 0.02)


def write_tables(folder: Path, tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
    """Write tables from rows; a column that a row does not name is null or zero."""
    for name, rows in tables.items():
        schema = TABLES[name]
        full = [{**blank(schema), **row} for row in rows]
        pq.write_table(pa.Table.from_pylist(full, schema=schema), folder / f"{name}.parquet")


def blank(schema: pa.Schema) -> dict[str, Any]:
    return {
        field.name: None if field.nullable else "" if pa.types.is_string(field.type) else 0
        for field in schema
    }


def stall_left(at: Ints, shape: Shape) -> Ints:
    """Return how long each instant still has to wait for the end of a stall, in ns."""
    phase = (at - START_NS) % round(shape.stall_every_s * SECOND)
    length = round(shape.stall_s * SECOND)
    begin = round(shape.stall_every_s * SECOND / 2)
    inside = (phase >= begin) & (phase < begin + length)
    return np.where(inside, begin + length - phase, 0)
