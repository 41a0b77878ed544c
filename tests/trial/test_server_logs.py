"""Logs that servers left in a run folder become rows of its tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tierlab.observe.server_logs import read_server_logs
from tierlab.tables.folder import RunFolder, create
from tierlab.tables.manifest import Manifest
from tierlab.tables.streams import convert_all

GC_LOG = (
    "[1000ms][5000000ns][safepoint   ] Safepoint \"G1CollectFull\", Total: 2000000 ns\n"
    "[2000ms][1005000000ns][gc          ] GC(0) Pause Full (System.gc()) 9M->5M(256M) 3.500ms\n"
    "[2000ms][1005100000ns][safepoint   ] Safepoint \"G1CollectFull\", Total: 4000000 ns\n"
    "[3000ms][2005000"
)  # fmt: skip
SOFT_LOG = "1000000000 pool=1/0/8\n1100000000 pool=8/3/8\n12000000"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create(tmp_path, "e")


@pytest.fixture
def manifest() -> Manifest:
    return Manifest.model_construct(not_measured={})


def leave(folder: RunFolder, subject: str, name: str, text: str) -> None:
    path = folder.logs / subject / "logs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_stops_and_gauges_become_rows(folder: RunFolder, manifest: Manifest) -> None:
    leave(folder, "app.1", "gc.log", GC_LOG)
    leave(folder, "app.1", "soft.log", SOFT_LOG)
    read_server_logs(folder, manifest)
    convert_all(folder.streams, folder.path, "here")
    events = pq.read_table(folder.path / "events.parquet").to_pylist()
    assert [(e["kind"], e["subject"], e["duration_ns"], e["detail"]) for e in events] == [
        ("safepoint", "app.1", 2_000_000, "G1CollectFull"),
        ("gc", "app.1", 4_000_000, "Pause Full (System.gc())"),
    ]
    soft = pq.read_table(folder.path / "soft.parquet").to_pylist()
    row = {"t_ns": 1_100_000_000, "dt_ns": 100_000_000, "subject": "app.1", "resource": "pool"}
    assert soft == [row | {"host": "here", "in_use": 8, "waiting": 3, "limit": 8}]
    assert manifest.not_measured == {}


def test_stops_of_a_thread_are_events(folder: RunFolder, manifest: Manifest) -> None:
    leave(folder, "app.1", "stops.log", "5000000 70000000 loop a timer came late\n9 1 gc scaven")
    read_server_logs(folder, manifest)
    convert_all(folder.streams, folder.path)
    (event,) = pq.read_table(folder.path / "events.parquet").to_pylist()
    assert (event["t_ns"], event["duration_ns"]) == (5_000_000, 70_000_000)
    assert (event["kind"], event["detail"]) == ("loop", "a timer came late")


def test_what_is_missing_or_foreign_is_named(folder: RunFolder, manifest: Manifest) -> None:
    leave(folder, "app.1", "gc.log", "[0.004s][info][gc] Using G1\n")
    read_server_logs(folder, manifest)
    convert_all(folder.streams, folder.path)
    assert not (folder.path / "soft.parquet").exists()
    assert set(manifest.not_measured) == {"soft", "events gc of app.1"}
    assert pq.read_table(folder.path / "events.parquet").num_rows == 0
