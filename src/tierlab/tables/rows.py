"""Writing rows as a stream, as an agent does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.json import ParseOptions, ReadOptions, read_json

from tierlab.tables.schemas import STREAMS

AT_ONCE = 20_000
"""So many rows are held at a time."""


def write_rows(path: Path, table: str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write a stream of a table's rows; return how many they were."""
    schema, left, count = STREAMS[table], iter(rows), 0
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
        while some := list(islice(left, AT_ONCE)):
            stream.write_table(_table(schema, some))
            count += len(some)
    return count


def _table(schema: pa.Schema, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    # Not `Table.from_pylist`: it has pandas loaded, which takes longer than all the rest.
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    options = ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    whole = ReadOptions(block_size=len(lines))
    found = read_json(BytesIO(lines), read_options=whole, parse_options=options)
    # Not `cast`: it has pyarrow.compute loaded. Its types are the schema's already.
    columns = [found.column(name) for name in schema.names]
    return pa.Table.from_arrays(columns, schema=schema)
