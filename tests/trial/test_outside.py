"""A hypervisor's books in the table `domain`: on the host's clock, or missing with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tierlab.environments.accounts import Accounts, Rows
from tierlab.errors import UserError
from tierlab.observe.outside import OutsideObserver
from tierlab.tables.clock import ClockReading
from tierlab.tables.folder import RunFolder, create
from tierlab.tables.manifest import Manifest
from tierlab.tables.schemas import SCHEMAS

S = 1_000_000_000
AHEAD = 5 * S
"""By how much the hypervisor's clock is ahead."""


class Books(Accounts):
    subject = "Domain-0"

    def __init__(self, *times_s: int, silent_from: int = 9) -> None:
        self.times_s, self.silent_from, self.read, self.closed = times_s, silent_from, 0, 0

    def open(self) -> None:
        self.read = 0

    def close(self) -> None:
        self.closed += 1

    def read_clock(self) -> ClockReading:
        self.read += 1
        if self.read >= self.silent_from:
            raise UserError("it does not answer")
        return ClockReading(at_ns=self.read * 100 * S, offset_ns=-AHEAD, uncertainty_ns=S // 10)

    def tables(self) -> dict[str, Rows]:
        empty = dict.fromkeys(SCHEMAS["domain"].names)
        domain = [
            {**empty, "t_ns": t * S + AHEAD, "dt_ns": 3 * S, "subject": "db.1", "cpu_ns": S}
            for t in self.times_s
        ]
        return {"domain": domain, "hypervisor_disk": []}


class HostsBooks(Books):
    """They go by this host's clock."""

    def read_clock(self) -> None:
        return None


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = create(tmp_path, "t")
    made.streams.mkdir(exist_ok=True)
    return made


@pytest.fixture
def manifest() -> Manifest:
    return Manifest(
        experiment="t",
        trial="001",
        environment="xen",
        workload="rubbos",
        created_ns=0,
        not_measured={"domain": "the plan gives no subject a control group"},
    )


def watched(folder: RunFolder, manifest: Manifest, books: Books | None) -> list[dict[str, Any]]:
    observer = OutsideObserver(folder, manifest, ["domain", "cpu"])
    observer.start(books)
    observer.stop()
    assert books is None or books.closed == 1
    stream = folder.streams / "outside.domain.arrows"
    if not stream.exists():
        return []
    with pa.OSFile(str(stream), "rb") as file:
        return pa.ipc.open_stream(file).read_all().to_pylist()


def test_rows_are_on_the_hosts_clock(folder: RunFolder, manifest: Manifest) -> None:
    found = watched(folder, manifest, Books(110, 113))
    assert [row["t_ns"] for row in found] == [110 * S, 113 * S]
    assert "domain" not in manifest.not_measured
    assert len(manifest.clocks["Domain-0"]) == 2


def test_books_by_this_hosts_clock_stay_as_they_are(folder: RunFolder, manifest: Manifest) -> None:
    found = watched(folder, manifest, HostsBooks(110))
    assert [row["t_ns"] for row in found] == [110 * S + AHEAD]
    assert manifest.clocks == {}


def test_what_nobody_asked_for_is_neither_kept_nor_missed(
    folder: RunFolder, manifest: Manifest
) -> None:
    observer = OutsideObserver(folder, manifest, ["cpu"])
    books = Books(110)
    observer.start(books)
    observer.stop()
    assert (books.read, list(folder.streams.iterdir())) == (0, [])


def test_one_reading_of_the_clock_serves(folder: RunFolder, manifest: Manifest) -> None:
    found = watched(folder, manifest, Books(110, silent_from=2))
    assert [row["t_ns"] for row in found] == [110 * S]
    assert manifest.not_measured == {"clock (at the end) of Domain-0": "it does not answer"}


def test_what_cannot_be_kept_is_named(folder: RunFolder, manifest: Manifest) -> None:
    assert watched(folder, manifest, Books(110, silent_from=1)) == []
    assert manifest.not_measured == {"domain": "it does not answer"}


def test_no_look_is_no_measurement(folder: RunFolder, manifest: Manifest) -> None:
    assert watched(folder, manifest, Books()) == []
    assert "first look" in manifest.not_measured["domain"]


def test_where_there_are_no_books_the_samplers_have_the_word(
    folder: RunFolder, manifest: Manifest
) -> None:
    before = dict(manifest.not_measured)
    assert watched(folder, manifest, None) == []
    assert (manifest.not_measured, manifest.clocks) == (before, {})
