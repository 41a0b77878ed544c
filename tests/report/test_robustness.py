"""Whatever is missing, the report says so in words; it never ends in a traceback."""

import json
import shutil

import made_run
import pytest

from tierlab.errors import UserError
from tierlab.report import build, terminal
from tierlab.report.diagnosis import why
from tierlab.report.replace import replace
from tierlab.report.words import answer
from tierlab.tables.schemas import SCHEMAS

from .reader import Page

MS = 1_000_000
START = made_run.START_NS + 6 * made_run.SECOND
REQUEST = {
    "intended_ns": START,
    "start_ns": START,
    "end_ns": START + 20 * MS,
    "interaction": "Home",
    "status": 200,
    "attempts": 1,
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    made_run.make(folder, made_run.Shape(requests=300, users=120))
    # None of its servers is a cache.
    made_run.write_tables(folder, {"cache": []})
    return folder


def shown(folder):
    """Report a run; return the page's text and the JSON, and see that the terminal has words."""
    report = build(folder)
    lines = terminal.lines(answer(report.summary), report.diagnosis, "report.html")
    assert 2 <= len(lines) - len(why(report.diagnosis)) <= 10
    text = Page(report.page.read_text(encoding="utf-8")).text
    return text, json.loads(report.summary.model_dump_json())


@pytest.mark.parametrize("table", [*SCHEMAS])
def test_each_table_may_be_missing(small, tmp_path, table):
    shutil.copytree(small, tmp_path, dirs_exist_ok=True)
    (tmp_path / f"{table}.parquet").unlink()
    text, summary = shown(tmp_path)
    assert table in summary["not_measured"]
    assert f"{table} the trial wrote no such table" in text


def test_all_tables_may_be_empty(tmp_path):
    made_run.manifest().write(tmp_path)
    made_run.write_tables(tmp_path, {table: [] for table in SCHEMAS})
    text, summary = shown(tmp_path)
    assert set(summary["not_measured"]) == {"counters"}
    assert "No request ended in the time that the figures cover." in text


def test_a_folder_with_a_manifest_only(tmp_path):
    made_run.manifest(phases=[], exit={"state": "failed", "error": "httpd did not start"}).write(
        tmp_path
    )
    text, summary = shown(tmp_path)
    assert "The trial failed: httpd did not start." in text
    assert "Nothing was recorded" in text
    assert summary["responses"] is None
    assert set(SCHEMAS) <= set(summary["not_measured"])


def test_one_request(tmp_path):
    made_run.write_tables(tmp_path, {"requests": [REQUEST]})
    made_run.manifest().write(tmp_path)
    text, summary = shown(tmp_path)
    assert summary["responses"]["count"] == 1
    assert summary["responses"]["time"]["p999_s"] == 0.02
    assert "None of 1 requests took over 2 s" in text


def test_every_request_failed(tmp_path):
    made_run.write_tables(tmp_path, {"requests": [{**REQUEST, "status": None, "error": "refused"}]})
    made_run.manifest().write(tmp_path)
    text, summary = shown(tmp_path)
    assert summary["responses"]["time"] is None
    assert "Every request failed" in text
    assert "1 refused" in text


def test_nulls_wherever_they_may_stand(tmp_path):
    rows = {
        name: [{"t_ns": START, "dt_ns": 50 * MS, "subject": "x"}]
        for name, schema in SCHEMAS.items()
        if "dt_ns" in schema.names
    }
    # A statement has no status.
    rows["requests"] = [{**REQUEST, "status": None}]
    rows["visits"] = [{"visit": 1, "server": "web.1", "arrival_ns": START}]
    made_run.write_tables(tmp_path, rows)
    made_run.manifest().write(tmp_path)
    _, summary = shown(tmp_path)
    assert summary["responses"]["count"] == 1
    assert not [each for each in summary["resources"] if each["table"] == "cpu"]


def test_an_interrupted_ramp_up(tmp_path):
    phase = {"name": "ramp_up", "start_ns": START, "end_ns": START + 3 * made_run.SECOND}
    made_run.write_tables(tmp_path, {"requests": [REQUEST]})
    made_run.manifest(phases=[phase], exit={"state": "interrupted"}).write(tmp_path)
    text, summary = shown(tmp_path)
    assert "The trial was interrupted" in text
    assert "No end of the runtime was recorded" in text
    assert summary["facts"]["duration_s"] == 3.0


def test_a_driver_killed_in_its_runtime(tmp_path):
    phase = {"name": "ramp_up", "start_ns": START, "end_ns": START + 3 * made_run.SECOND}
    late = {**REQUEST, "end_ns": START + 10 * made_run.SECOND - 1}
    made_run.write_tables(tmp_path, {"requests": [REQUEST, late]})
    made_run.manifest(phases=[phase], exit={"state": "failed", "error": "killed"}).write(tmp_path)
    text, summary = shown(tmp_path)
    assert "No end of the runtime was recorded" in text
    assert summary["responses"]["count"] == 2
    assert summary["facts"]["duration_s"] == 10.0


def test_a_server_frozen_throughout_shows_its_queue(tmp_path):
    frozen = {"server": "web.1", "arrival_ns": START, "departure_ns": None}
    rows = [{**frozen, "visit": n, "connection": n} for n in range(40)]
    made_run.write_tables(tmp_path, {"requests": [REQUEST], "visits": rows})
    made_run.manifest().write(tmp_path)
    text, summary = shown(tmp_path)
    (web,) = [each for each in summary["servers"] if each["name"] == "web.1"]
    assert (web["visits"], web["unfinished"], web["time"]) == (0, 40, None)
    assert web["queue"]["peak"] == 40
    assert "(40 at web.1) stand in their server's queue" in text
    assert "web.1 peaks at 40" in text.split("Queue at web")[1]


def test_an_open_loop_has_no_users(tmp_path):
    made_run.write_tables(tmp_path, {"requests": [REQUEST]})
    made_run.manifest(load={"rate": 500.0}).write(tmp_path)
    text, summary = shown(tmp_path)
    assert "500 requests/s offered" in text
    assert summary["checks"] == []


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(UserError, match=r"is not a run folder .*manifest\.json"):
        build(tmp_path)


def test_a_damaged_table(tmp_path):
    made_run.manifest().write(tmp_path)
    (tmp_path / "cpu.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(UserError, match=r"cpu\.parquet cannot be read as Parquet"):
        build(tmp_path)


def test_a_folder_that_takes_no_page(tmp_path):
    made_run.manifest().write(tmp_path)
    (tmp_path / "report.html").mkdir()
    with pytest.raises(UserError, match=r"report\.html cannot be written"):
        build(tmp_path)
    assert not list(tmp_path.glob("*.part"))


def test_a_place_that_can_hold_no_file_is_one_sentence(tmp_path):
    """A read-only mount refuses to remove what is not there; so does what is below a file."""
    (tmp_path / "f").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        replace(tmp_path / "f" / "report.html", "page")
