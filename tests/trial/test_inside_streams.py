"""What guests wrote becomes part of a run folder: named after its server, on the host's clock."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tierlab.observe.inside import streams_of
from tierlab.observe.inside_streams import bring_out
from tierlab.observe.server_logs import read_server_logs
from tierlab.tables.clock import ClockReading
from tierlab.tables.folder import RunFolder, create
from tierlab.tables.manifest import Manifest
from tierlab.tables.schemas import SCHEMAS
from tierlab.tables.streams import convert_all

AHEAD = ClockReading(at_ns=1_000, offset_ns=-400, uncertainty_ns=3)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create(tmp_path, "e")


def write(folder: RunFolder, server: str, table: str, *rows: tuple[int, str]) -> Path:
    path = streams_of(folder) / server / f"{table}.arrows"
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = SCHEMAS[table.rpartition(".")[2]]
    filled = [
        {
            field.name: None if field.nullable else "" if field.type == pa.string() else 0
            for field in schema
        }
        | {"t_ns": t_ns, "subject": subject}
        for t_ns, subject in rows
    ]
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        writer.write_table(pa.Table.from_pylist(filled, schema))
    return path


def read(folder: RunFolder, table: str) -> list[tuple[int, str]]:
    rows = pq.read_table(folder.path / f"{table}.parquet").to_pylist()
    return sorted((row["t_ns"], row["subject"]) for row in rows)


def manifest(environment: str = "qemu", **clocks: list[ClockReading]) -> Manifest:
    named = {name.replace("_", "."): readings for name, readings in clocks.items()}
    return Manifest.model_construct(environment=environment, not_measured={}, clocks=named)


def test_subjects_are_named_after_the_server_and_times_are_the_hosts(folder: RunFolder) -> None:
    write(folder, "db.1", "cpu", (2_000, "cpu0"), (2_050, "cpu1"))
    write(folder, "db.1", "process", (2_000, "db.1"))
    write(folder, "db.1", "listen", (2_000, "db.1"))
    write(folder, "db.1", "sample.events", (2_000, "db.1"), (2_001, "sample"))
    bring_out(folder, manifest(db_1=[AHEAD]))
    convert_all(folder.streams, folder.path)
    assert read(folder, "inside_cpu") == [(1_600, "db.1/cpu0"), (1_650, "db.1/cpu1")]
    assert read(folder, "inside_process") == [(1_600, "db.1")]
    assert read(folder, "listen") == [(1_600, "db.1")]
    assert read(folder, "events") == [(1_600, "db.1"), (1_601, "db.1/sample")]
    assert not (folder.path / "cpu.parquet").exists()
    assert not streams_of(folder).exists()


def test_guests_stand_beside_one_another_and_beside_the_host(folder: RunFolder) -> None:
    for server in ("db.1", "web.1"):
        path = write(folder, server, "listen", (2_000, server))
    path.rename(folder.streams / "listen.arrows")
    bring_out(folder, manifest(db_1=[AHEAD], web_1=[AHEAD]))
    convert_all(folder.streams, folder.path)
    assert read(folder, "listen") == [(1_600, "db.1"), (2_000, "web.1")]


@pytest.mark.parametrize(("environment", "host"), [("qemu", "here"), ("vsphere", None)])
def test_what_was_seen_inside_is_of_the_machine_that_the_guest_is_on(
    folder: RunFolder, environment: str, host: str | None
) -> None:
    write(folder, "db.1", "cpu", (2_000, "cpu0"))
    bring_out(folder, manifest(environment, db_1=[AHEAD]))
    convert_all(folder.streams, folder.path, "here")
    assert pq.read_table(folder.path / "inside_cpu.parquet")["host"].to_pylist() == [host]


def test_a_guest_that_died_keeps_its_whole_batches(folder: RunFolder) -> None:
    path = write(folder, "db.1", "cpu", (2_000, "cpu0"))
    path.write_bytes(path.read_bytes()[:-8])
    told = manifest(db_1=[AHEAD])
    bring_out(folder, told)
    convert_all(folder.streams, folder.path)
    assert read(folder, "inside_cpu") == [(1_600, "db.1/cpu0")]
    assert list(told.not_measured) == ["inside_cpu of db.1 (end)"]


def test_what_a_clock_that_was_not_read_stamped_is_not_measured(folder: RunFolder) -> None:
    write(folder, "app.1", "cpu", (2_000, "cpu0"))
    log = folder.logs / "app.1" / "logs" / "soft.log"
    log.parent.mkdir(parents=True)
    log.write_text("1000000000 pool=1/0/8\n1100000000 pool=8/3/8\n")
    told = manifest(app_1=[])
    bring_out(folder, told)
    read_server_logs(folder, told)
    convert_all(folder.streams, folder.path)
    assert not (folder.path / "inside_cpu.parquet").exists()
    assert not (folder.path / "soft.parquet").exists()
    assert {"tables seen inside of app.1", "soft of app.1"} <= set(told.not_measured)
