"""From the agent's Arrow streams to Parquet.

While a trial runs the agent appends batches to ``*.arrows`` files, so that a kill loses at most the
last batch. Once it is over each becomes one Parquet file, written beside its final name and renamed
when it is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tierlab.tables.schemas import TABLES

GROUP_ROWS = 100_000


@dataclass(frozen=True)
class Converted:
    """What became of a table: its rows, and whether the stream ended before its end mark."""

    table: str
    rows: int
    truncated: bool


class Stream:
    """The batches of one stream file, as far as they are whole; ``truncated`` once it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.truncated = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read them, one after the other."""
        with pa.OSFile(str(self.path), "rb") as file:
            try:
                reader = pa.ipc.open_stream(file)
            except (pa.ArrowInvalid, OSError):
                self.truncated = True
                return
            while True:
                try:
                    yield reader.read_next_batch()
                except StopIteration:
                    # A writer that was killed leaves no end mark: the stream just stops.
                    self.truncated = not _ends_with_mark(self.path)
                    return
                except (pa.ArrowInvalid, OSError):
                    self.truncated = True
                    return


def _ends_with_mark(path: Path) -> bool:
    """Say whether the file ends with the end-of-stream mark (Arrow IPC format, "Streaming")."""
    with path.open("rb") as file:
        file.seek(0, 2)
        if file.tell() < 8:
            return False
        file.seek(-8, 2)
        return file.read(8) == b"\xff\xff\xff\xff\x00\x00\x00\x00"


def to_parquet(table: str, streams: Sequence[Path], folder: Path, host: str | None) -> Converted:
    """Write ``folder/<table>.parquet`` from one or more streams of that table.

    ``host`` is whose sampled rows they are, where a stream does not say so itself. A stream that
    ends early keeps its whole batches. When the disk does not take the file (OSError) nothing
    half-written stays and the streams are untouched.
    """
    schema = TABLES[table]
    target = folder / f"{table}.parquet"
    part = target.with_suffix(".parquet.part")
    rows, truncated = 0, False
    try:
        with pq.ParquetWriter(part, schema, compression="zstd") as writer:
            for path in streams:
                stream = Stream(path)
                for some in _groups(_fitted(batch, schema, host) for batch in stream.batches()):
                    writer.write_table(some)
                    rows += some.num_rows
                truncated |= stream.truncated
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return Converted(table, rows, truncated)


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches laid together to row groups: what is handed over every second has a few rows, and
    readers look at each group of a file.
    """
    some: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        some.append(batch)
        rows += batch.num_rows
        if rows >= GROUP_ROWS:
            yield pa.Table.from_batches(some)
            some, rows = [], 0
    if some:
        yield pa.Table.from_batches(some)


def _fitted(batch: pa.RecordBatch, schema: pa.Schema, host: str | None) -> pa.RecordBatch:
    """The columns of the schema; what an agent of another version did not measure is null."""
    known = set(batch.schema.names)
    columns = []
    for field in schema:
        if field.name in known:
            column = batch.column(field.name)
            # A cast has pyarrow.compute and pandas loaded: that takes longer than all tables.
            columns.append(column if column.type == field.type else column.cast(field.type))
        elif field.name == "host" and host is not None:
            columns.append(_repeated(host, batch.num_rows))
        else:
            columns.append(pa.nulls(batch.num_rows, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _repeated(text: str, rows: int) -> pa.StringArray:
    """A column with the same text in each row, from its buffers: `pa.array` has pandas loaded."""
    raw = text.encode()
    offsets = np.arange(rows + 1, dtype=np.int32) * len(raw)
    buffers = pa.py_buffer(offsets.tobytes()), pa.py_buffer(raw * rows)
    return pa.StringArray.from_buffers(rows, *buffers)


def convert_all(streams: Path, folder: Path, host: str | None = None) -> list[Converted]:
    """Convert every known ``*.arrows`` file under ``streams``, which are left as they are: whoever
    is killed before the last table starts over from all of them.

    ``<table>.arrows`` and ``<anything>.<table>.arrows`` are known: all of a table become one file.
    ``host`` is the machine whose streams they are; None leaves that open in their rows.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted(streams.glob("*.arrows")):
        table = path.stem.rpartition(".")[2]
        if table in TABLES:
            found.setdefault(table, []).append(path)
    return [to_parquet(table, paths, folder, host) for table, paths in found.items()]
