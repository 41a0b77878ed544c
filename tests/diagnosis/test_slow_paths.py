"""A label with a quick and a slow path: a cache's hits and misses, one address for all queries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tierlab.analysis.observed import observe
from tierlab.diagnosis.finding import Diagnosis
from tierlab.diagnosis.run_stalls import run_stalls
from tierlab.tables.manifest import Manifest
from tierlab.tables.run import Run
from tierlab.tables.schemas import SCHEMAS

from . import made_stall
from .made_stall import MS, START, TICK, Rows
from .signatures import diagnosed
from .test_long_requests import LENGTH, manifest

QUICK, SLOW = 3 * MS, 200 * MS
APART = 10 * MS
Pauses = Sequence[tuple[int, int]]


def make(folder: Path, *, one_in: int | None, pauses: Pauses = (), seen: bool = True) -> Path:
    """A run of one server that is asked every 10 ms and takes the slow path once in so many, but
    serves nobody in the pauses.
    """
    tables: dict[str, Rows] = {name: [] for name in SCHEMAS}
    for number, at in enumerate(range(START, START + LENGTH - SLOW, APART)):
        work = SLOW if one_in and number % one_in == 0 else QUICK
        _request(tables, number, at, _served(at, work, pauses))
    for end in range(START + TICK, START + LENGTH + 1, TICK):
        for n in range(2):
            row = {"t_ns": end, "dt_ns": TICK, "subject": f"cpu{n}", "busy": 0.2, "steal": 0.0}
            tables["cpu"].append(row)
    for name, rows in tables.items():
        if seen or name != "visits":
            made_stall.write(folder, name, rows)
    of_many: Manifest = manifest()
    of_many.load = {"users": 100, "think_ns": 1_000 * MS}
    of_many.write(folder)
    return folder


def _served(at: int, work: int, pauses: Pauses) -> int:
    """When its work is done, which stands still in a pause."""
    end = at + work
    for a, b in pauses:
        if at < b and a < end:
            end += b - max(a, at)
    return end


def _request(tables: dict[str, Rows], number: int, start: int, end: int) -> None:
    visit = {"visit": number, "server": "app.1", "label": "POST /graphql", "protocol": "x"}
    visit |= {"arrival_ns": start, "request_end_ns": start, "departure_ns": end}
    tables["visits"].append(visit | {"connection": number})
    tables["requests"].append(
        {"user": number % 100, "interaction": "Query", "intended_ns": start, "start_ns": start}
        | {"connected_ns": start, "first_byte_ns": end, "end_ns": end, "status": 200}
    )


def windows(found: Diagnosis) -> list[tuple[int, int]]:
    return [
        ((each.start_ns - START) // MS, (each.end_ns - START) // MS)
        for finding in found.findings
        for each in finding.windows
    ]


@pytest.mark.parametrize("seen", [True, False], ids=["messages", "users alone"])
@pytest.mark.parametrize("one_in", [20, 4])
def test_a_slow_path_that_is_always_there_is_no_stall(
    tmp_path: Path, one_in: int, seen: bool
) -> None:
    """Each miss of a cache was a stall of unknown cause at the server, for all of the run."""
    found = diagnosed(make(tmp_path, one_in=one_in, seen=seen))
    assert found.verdict == "nothing abnormal", found.words


def test_a_stall_beside_a_slow_path_is_found_where_it_is(tmp_path: Path) -> None:
    found = diagnosed(make(tmp_path, one_in=4, pauses=[(START + 12_000 * MS, START + 12_300 * MS)]))
    ((start_ms, end_ms),) = windows(found)
    assert 11_800 <= start_ms <= 12_000, "of the slow path, held up as well"
    assert 12_250 <= end_ms <= 12_600


EVERY_SECOND = [(t, t + 150 * MS) for t in range(START + 500 * MS, START + LENGTH, 1_000 * MS)]


@pytest.mark.parametrize("path", [None, 20], ids=["no slow path", "a slow path"])
def test_a_server_that_stops_every_second_is_no_slow_path(tmp_path: Path, path: int | None) -> None:
    """A collection of garbage a second: those that came meanwhile were held up as well."""
    found = windows(diagnosed(make(tmp_path, one_in=path, pauses=EVERY_SECOND)))
    assert len(found) >= 20


def test_who_is_asked_one_at_a_time_has_no_others_to_tell_by(tmp_path: Path) -> None:
    """Nobody came while a slow one was served: whether the server stood still is not known."""
    folder = make(tmp_path, one_in=None, pauses=EVERY_SECOND)
    rows = made_stall.read(folder, "visits")
    kept: Rows = []
    for row in rows:
        if not kept or row["arrival_ns"] > kept[-1]["departure_ns"]:
            kept.append(row)
    made_stall.write(folder, "visits", kept)
    observed = observe(Run(folder))
    assert observed.measured is not None
    assert len(run_stalls(observed, observed.measured)) >= 20
