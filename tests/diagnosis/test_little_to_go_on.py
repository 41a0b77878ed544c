"""Runs that hold little, or nonsense: a clear answer, never a traceback."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tierlab.analysis.observed import observe
from tierlab.cli.main import app
from tierlab.diagnosis import diagnose
from tierlab.tables import manifest as manifests
from tierlab.tables.run import Run
from tierlab.tables.schemas import SCHEMAS

from . import made_stall
from .made_stall import MS, START


def diagnosed(folder):
    return diagnose(observe(Run(folder)))


@pytest.fixture(scope="module")
def stalled(tmp_path_factory):
    return made_stall.make(tmp_path_factory.mktemp("stalled"), "db.1")


def changed(stalled, tmp_path, table, change):
    """The run with one table's rows changed by `change` (a function of the Arrow table)."""
    for file in stalled.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    file = tmp_path / f"{table}.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    return tmp_path


@pytest.mark.parametrize("table", SCHEMAS)
def test_an_empty_table(stalled, tmp_path, table):
    found = diagnosed(changed(stalled, tmp_path, table, lambda rows: rows.slice(0, 0)))
    assert found.words


@pytest.mark.parametrize("stopped", [0, None], ids=["known", "unknown"])
def test_pages_that_are_asked_for_now_and_then_are_no_stalls(tmp_path, stopped):
    """One request a second of ten pages, which all wait 400 ms for somebody outside: of none it was
    known how long it usually takes, and each was a server that had been stopped.
    """
    folder = made_stall.make(tmp_path, None)
    visits, requests = [], []
    for n in range(29):
        start = START + n * 1_000 * MS
        page = {"label": f"GET /{n % 10}", "protocol": "x", "connection": n}
        page |= {"arrival_ns": start, "request_end_ns": start, "departure_ns": start + 400 * MS}
        visits.append(page | {"visit": n, "server": "web.1", "parent": None})
        asked = {"user": n, "interaction": f"{n % 10}", "intended_ns": start, "start_ns": start}
        ended = {"first_byte_ns": start + 400 * MS, "end_ns": start + 400 * MS, "status": 200}
        requests.append(asked | ended | {"connected_ns": start})
    made_stall.write(folder, "visits", visits)
    made_stall.write(folder, "requests", requests)
    idle = [
        row | {"cpu_ns": 0, "threads_stopped": stopped} for row in made_stall.read(folder, "domain")
    ]
    made_stall.write(folder, "domain", idle)
    assert diagnosed(folder).verdict == "nothing abnormal"


@pytest.mark.parametrize("table", ["visits", "requests", "domain"])
def test_a_table_cut_short_before_the_stall(stalled, tmp_path, table):
    found = diagnosed(changed(stalled, tmp_path, table, lambda rows: rows.slice(0, len(rows) // 4)))
    assert found.words


@pytest.mark.parametrize("tier", ["web.1", "app.1", "lb.1"])
def test_a_tier_that_was_not_captured(stalled, tmp_path, tier):
    """The database's own visits are enough to blame it, whoever called."""

    def others(rows):
        kept = [row for row in rows.to_pylist() if row["server"] != tier]
        there = {row["visit"] for row in kept}
        for row in kept:
            row["parent"] = row["parent"] if row["parent"] in there else None
        return type(rows).from_pylist(kept, schema=rows.schema)

    found = diagnosed(changed(stalled, tmp_path, "visits", others))
    assert "db.1" in {each.subject for each in found.findings}


def test_samples_whose_clock_stepped_back(stalled, tmp_path):
    def stepped(rows):
        ticks = rows.to_pylist()
        for row in ticks[len(ticks) // 2 :]:
            row["t_ns"] -= 500 * MS
        return type(rows).from_pylist(ticks, schema=rows.schema)

    found = diagnosed(changed(stalled, tmp_path, "domain", stepped))
    assert [each.subject for each in found.findings] == ["db.1"]


def test_one_request(stalled, tmp_path):
    found = diagnosed(changed(stalled, tmp_path, "requests", lambda rows: rows.slice(0, 1)))
    assert found.words
    alone = tmp_path / "alone"
    alone.mkdir()
    manifests.read(stalled).write(alone)
    pq.write_table(
        pq.read_table(stalled / "requests.parquet").slice(0, 1), alone / "requests.parquet"
    )
    assert diagnosed(alone).verdict == "nothing abnormal"


def test_a_run_that_saw_nothing(stalled, tmp_path):
    manifests.read(stalled).write(tmp_path)
    found = diagnosed(tmp_path)
    assert found.verdict == "not observed"
    assert set(found.missing) == set(SCHEMAS)


def test_servers_that_the_manifest_does_not_know(stalled, tmp_path):
    folder = changed(stalled, tmp_path, "requests", lambda rows: rows)
    manifests.read(folder).model_copy(update={"servers": {}}).write(folder)
    assert diagnosed(folder).words


def test_visits_without_departures(stalled, tmp_path):
    def held(rows):
        visits = rows.to_pylist()
        for row in visits:
            if row["server"] == "db.1" and row["arrival_ns"] > START + 20_000 * MS:
                row["departure_ns"] = None
        return type(rows).from_pylist(visits, schema=rows.schema)

    assert diagnosed(changed(stalled, tmp_path, "visits", held)).words


def test_what_is_no_run_folder_is_one_sentence(tmp_path):
    said = CliRunner().invoke(app, ["diagnose", str(tmp_path)])
    assert said.exit_code != 0
    assert "is not a run folder" in str(said.exception)


def test_the_same_words_without_the_truth(tmp_path):
    """What lies beside the run folder changes nothing."""
    folder = made_stall.make(tmp_path / "001", "db.1")
    alone = diagnosed(folder)
    truth = tmp_path / "001.truth"
    truth.mkdir()
    (truth / "truth.jsonl").write_text('{"class": "freeze", "subject": "web.1", "done": true}\n')
    assert diagnosed(folder) == alone


def test_requests_that_were_never_answered_hide_no_stall(stalled, tmp_path):
    """Somebody opened a hundred requests and never ended them: that is no stall of the server."""

    def abandoned(rows):
        visits = rows.to_pylist()
        for number in range(100):
            at = START + 5_000 * MS + number * MS
            row = {"visit": 10**6 + number, "server": "app.1", "label": "POST /form"}
            row |= {"arrival_ns": at, "request_end_ns": at, "departure_ns": None, "parent": None}
            visits.append(visits[0] | row | {"connection": 10**6 + number})
        return type(rows).from_pylist(visits, schema=rows.schema)

    found = diagnosed(changed(stalled, tmp_path, "visits", abandoned))
    assert [each.subject for each in found.findings] == ["db.1"]
