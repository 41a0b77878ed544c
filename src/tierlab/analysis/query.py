"""Asking DuckDB: rows as dictionaries, columns as arrays."""

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from tierlab.analysis.span import Span

Connection = duckdb.DuckDBPyConnection
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

IN_SPAN = "BETWEEN $start AND $end - 1"
"""A time that lies in the span, whose end is exclusive; use with :func:`bounds`."""

DETAIL = "CASE WHEN json_valid(detail) THEN detail ELSE '{}' END"
"""An event's detail as SQL; words that are no JSON count as an empty object."""


def bounds(span: Span) -> dict[str, int]:
    """Return the span as the parameters ``$start`` and ``$end``."""
    return {"start": span.start_ns, "end": span.end_ns}


def rows(db: Connection, sql: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
    """Run a query and return its rows, each a dictionary by column."""
    result = db.execute(sql, dict(parameters))
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, values, strict=True)) for values in result.fetchall()]


def row(db: Connection, sql: str, parameters: Mapping[str, object]) -> dict[str, Any]:
    """Run a query that gives exactly one row, such as an aggregate without groups."""
    (only,) = rows(db, sql, parameters)
    return only


def columns(
    db: Connection, sql: str, parameters: Mapping[str, object]
) -> dict[str, npt.NDArray[Any]]:
    """Run a query and return its columns as arrays; null in a float column becomes NaN."""
    arrays = db.execute(sql, dict(parameters)).fetchnumpy()
    return {name: _plain(np.asanyarray(array)) for name, array in arrays.items()}


def batches(
    db: Connection, sql: str, parameters: Mapping[str, object], size: int = 500_000
) -> Iterator[dict[str, npt.NDArray[Any]]]:
    """Run a query and yield its columns, which have no null, so many rows at a time."""
    for batch in db.sql(sql, params=dict(parameters)).to_arrow_reader(size):
        # Not `to_numpy()`: it has pandas loaded, which takes longer than most of a report.
        yield {name: np.from_dlpack(batch.column(name)) for name in batch.schema.names}


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if isinstance(array, np.ma.MaskedArray):
        return array.filled(np.nan) if array.dtype.kind == "f" else array.filled()
    return array
