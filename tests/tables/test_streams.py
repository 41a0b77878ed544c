"""Streams become Parquet, however they ended."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tierlab
from tierlab.errors import UserError
from tierlab.tables.manifest import Manifest, ServerPart
from tierlab.tables.schemas import SCHEMAS
from tierlab.tables.streams import convert_all

EVENTS = SCHEMAS["events"]


def events(start: int, count: int) -> pa.RecordBatch:
    times = list(range(start, start + count))
    return pa.RecordBatch.from_arrays(
        [
            pa.array(times, pa.int64()),
            pa.array([0] * count, pa.int64()),
            pa.array(["phase"] * count),
            pa.array(["runtime"] * count),
            pa.array([""] * count),
        ],
        schema=EVENTS,
    )


def write_stream(path: Path, batches: int, *, finished: bool) -> None:
    sink = pa.OSFile(str(path), "wb")
    writer = pa.ipc.new_stream(sink, EVENTS)
    for number in range(batches):
        writer.write_batch(events(number * 10, 10))
    if finished:
        writer.close()
    sink.close()


def test_an_hour_of_small_batches_is_one_row_group(tmp_path: Path) -> None:
    """Each batch was a group of its own, 28,800 in eight hours, all of which each query walked."""
    write_stream(tmp_path / "drive.events.arrows", 3_600, finished=True)
    (converted,) = convert_all(tmp_path, tmp_path)
    assert converted.rows == 36_000
    assert pq.ParquetFile(tmp_path / "events.parquet").num_row_groups == 1


def test_a_finished_stream_keeps_every_row(tmp_path: Path) -> None:
    write_stream(tmp_path / "drive.events.arrows", 3, finished=True)
    (converted,) = convert_all(tmp_path, tmp_path)
    assert (converted.rows, converted.truncated) == (30, False)
    assert pq.read_table(tmp_path / "events.parquet")["t_ns"].to_pylist() == list(range(30))


def test_tables_can_be_made_again_from_all_streams(tmp_path: Path) -> None:
    """A kill after the events were a table and before the rest was: their streams were gone, and
    the table was made anew from what a server's log had to add.
    """
    write_stream(tmp_path / "drive.events.arrows", 3, finished=True)
    convert_all(tmp_path, tmp_path)
    write_stream(tmp_path / "gc.events.arrows", 1, finished=True)
    (converted,) = convert_all(tmp_path, tmp_path)
    assert converted.rows == 40


def test_a_killed_writer_loses_at_most_its_last_batch(tmp_path: Path) -> None:
    path = tmp_path / "sample.events.arrows"
    write_stream(path, 3, finished=False)
    whole = path.read_bytes()
    for cut in range(1, len(whole)):
        path.write_bytes(whole[:cut])
        (converted,) = convert_all(tmp_path, tmp_path)
        assert converted.truncated
        rows = pq.read_table(tmp_path / "events.parquet").num_rows
        assert rows == converted.rows
        assert rows in (0, 10, 20, 30)
        assert rows >= 10 * (cut * 3 // len(whole) - 1)


def test_events_of_all_verbs_become_one_table(tmp_path: Path) -> None:
    write_stream(tmp_path / "drive.events.arrows", 1, finished=True)
    write_stream(tmp_path / "sample.events.arrows", 2, finished=False)
    (converted,) = convert_all(tmp_path, tmp_path)
    assert (converted.rows, converted.truncated) == (30, True)


def test_run_opens_tables_and_says_what_is_missing(tmp_path: Path) -> None:
    write_stream(tmp_path / "drive.events.arrows", 1, finished=True)
    convert_all(tmp_path, tmp_path)
    Manifest(
        experiment="e",
        trial="001",
        environment="native",
        workload="rubbos",
        created_ns=0,
        not_measured={"visits": "messages were switched off"},
    ).write(tmp_path)
    run = tierlab.open(tmp_path)
    assert run.events.count().execute() == 10
    assert not run.has("visits")
    assert run.connect().execute("SELECT count(*) FROM visits").fetchone() == (0,)
    with pytest.raises(UserError, match="messages were switched off"):
        run.table("visits")


def test_a_folder_without_a_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"{tmp_path} is not a run folder"):
        tierlab.open(tmp_path)


def test_a_broken_table_is_named(tmp_path: Path) -> None:
    Manifest(experiment="e", trial="1", environment="n", workload="w", created_ns=0).write(tmp_path)
    (tmp_path / "cpu.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(UserError, match=r"cpu\.parquet cannot be read as Parquet"):
        tierlab.open(tmp_path).connect()


def write_pressure(path: Path) -> None:
    schema = SCHEMAS["pressure"]
    row = {"t_ns": 1, "dt_ns": 1, "subject": "web.1", "resource": "cpu"}
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_pylist([row | {"some": 0.5}], schema))


def test_sampled_rows_say_of_which_machine_they_are(tmp_path: Path) -> None:
    write_pressure(tmp_path / "pressure.arrows")
    write_stream(tmp_path / "sample.events.arrows", 1, finished=True)
    convert_all(tmp_path, tmp_path, "alpha")
    (found,) = pq.read_table(tmp_path / "pressure.parquet").to_pylist()
    assert (found["host"], found["subject"], found["some"]) == ("alpha", "web.1", 0.5)
    assert "host" not in pq.read_table(tmp_path / "events.parquet").column_names


def test_a_folder_from_before_rows_had_a_host_opens_with_null(tmp_path: Path) -> None:
    write_pressure(tmp_path / "pressure.arrows")
    (batch,) = pa.ipc.open_stream(tmp_path / "pressure.arrows")
    pq.write_table(pa.Table.from_batches([batch]), tmp_path / "pressure.parquet")
    Manifest(experiment="e", trial="1", environment="n", workload="w", created_ns=0).write(tmp_path)
    found = tierlab.open(tmp_path).pressure.execute()
    assert found.columns[:4].tolist() == ["t_ns", "dt_ns", "host", "subject"]
    assert found.host.isna().all()
    assert found.some.tolist() == [0.5]


@pytest.mark.parametrize("spoken", ["http", "postgresql", None])
def test_a_folder_from_before_requests_had_a_protocol_has_that_of_who_was_called(
    spoken: str | None, tmp_path: Path
) -> None:
    older = pa.schema([field for field in SCHEMAS["requests"] if field.name != "protocol"])
    row = {field.name: 0 for field in older if not field.nullable} | {"interaction": "Home"}
    pq.write_table(pa.Table.from_pylist([row], older), tmp_path / "requests.parquet")
    stood = {} if spoken is None else {"first": spoken, "second": "mysql"}
    servers = {
        name: ServerPart(tier=name, server="any", address="::1", port=1, protocol=protocol)
        for name, protocol in stood.items()
    }
    Manifest(
        experiment="e", trial="1", environment="n", workload="w", created_ns=0, servers=servers
    ).write(tmp_path)
    (found,) = tierlab.open(tmp_path).connect().execute("SELECT protocol FROM requests").fetchall()
    assert found == (spoken,)


def test_a_column_that_an_older_agent_did_not_have_is_null(tmp_path: Path) -> None:
    older = pa.schema([field for field in SCHEMAS["listen"] if field.name != "drops"])
    row = {"t_ns": 1, "dt_ns": 1, "subject": "web.1", "address": "::1", "port": 80}
    batch = pa.RecordBatch.from_pylist([row | {"accept_queue": 2, "backlog": 5}], older)
    path = str(tmp_path / "listen.arrows")
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, older) as writer:
        writer.write_batch(batch)
    convert_all(tmp_path, tmp_path)
    (found,) = pq.read_table(tmp_path / "listen.parquet").to_pylist()
    assert (found["accept_queue"], found["drops"]) == (2, None)
