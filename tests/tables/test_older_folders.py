"""A folder of an older version lacks columns: they are null there, of the schema's type."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tierlab
from tierlab.tables.manifest import Call, Manifest, ServerPart
from tierlab.tables.run import Run
from tierlab.tables.schemas import SQL_TYPES, TABLES

NULLABLE = {
    name: [field.name for field in schema if field.nullable]
    for name, schema in TABLES.items()
    if any(field.nullable for field in schema)
}
WAITS = [
    *("process", "thread", "queued_ns", "cpu_ns", "runnable_ns", "throttled_ns", "stopped_ns"),
    *("disk_ns", "lock_ns", "calls_ns", "connecting_ns", "other_ns", "other_call", "sending_ns"),
]


def row(schema: pa.Schema) -> dict[str, object]:
    """A row with a zero, an empty text or an empty list in each column."""
    blank = {pa.string(): "", pa.list_(pa.string()): []}
    return {field.name: blank.get(field.type, 0) for field in schema}


def write(folder: Path, table: str, lacks: list[str]) -> None:
    schema = TABLES[table]
    rows = pa.Table.from_pylist([row(schema)], schema=schema)
    pq.write_table(rows.drop_columns(lacks), folder / f"{table}.parquet")


def manifest(folder: Path, **changes: object) -> None:
    known = {"experiment": "old", "trial": "001", "environment": "native", "workload": "rubbos"}
    Manifest.model_validate({**known, "created_ns": 0, **changes}).write(folder)


@pytest.mark.parametrize("table", NULLABLE)
def test_what_a_file_lacks_is_null_of_the_schemas_type(tmp_path: Path, table: str) -> None:
    write(tmp_path, table, NULLABLE[table])
    manifest(tmp_path)

    view = Run(tmp_path).connect().view(table)

    assert view.columns == TABLES[table].names
    types = dict(zip(view.columns, map(str, view.types), strict=True))
    assert types == {field.name: SQL_TYPES[field.type] for field in TABLES[table]}
    (found,) = view.fetchall()
    nulls = [name for name, value in zip(view.columns, found, strict=True) if value is None]
    assert nulls == NULLABLE[table]


def test_visits_from_before_threads_were_traced_can_be_asked_for_their_parts(
    tmp_path: Path,
) -> None:
    write(tmp_path, "visits", WAITS)
    manifest(tmp_path)

    frame = tierlab.open(tmp_path).visits.execute()

    assert frame[WAITS].isna().all(axis=None)
    assert len(frame) == 1


def test_a_column_that_may_not_be_null_is_not_made_up(tmp_path: Path) -> None:
    write(tmp_path, "visits", ["label"])
    manifest(tmp_path)

    with pytest.raises(duckdb.BinderException, match="label"):
        Run(tmp_path).connect().execute("SELECT label FROM visits")


def test_users_spoke_what_all_servers_spoke_that_they_called(tmp_path: Path) -> None:
    write(tmp_path, "requests", ["protocol"])
    part = {"server": "httpd", "address": "127.0.0.1", "port": 80, "protocol": "http1"}
    servers = {name: ServerPart(tier=name[:-2], **part) for name in ("web.1", "app.1")}
    calls = [Call("web.1", "app.1", "http1")]
    manifest(tmp_path, servers=servers, calls=calls)

    spoken = Run(tmp_path).connect().execute("SELECT protocol FROM requests").fetchall()

    assert spoken == [("http1",)]
