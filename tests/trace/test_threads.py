"""Links by thread and what visits waited for, on a threaded server that nobody else wrote for."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from tests.command import Start, commands

FOLDER = Path(__file__).parent
PYTHON = "/usr/bin/python3"
PARTS = (
    *("queued_ns", "cpu_ns", "runnable_ns", "throttled_ns", "stopped_ns", "disk_ns"),
    *("lock_ns", "calls_ns", "connecting_ns", "other_ns", "sending_ns"),
)
FRONT = f"{PYTHON} two_calls.py front {{address}} {{port}} {{app}}"
BACK = f"{PYTHON} two_calls.py back {{address}} {{port}}"
EXPERIMENT = f"""
[experiment]
name = "t"
[system]
workload = "own"
web = {{ command = "{FRONT}", folder = "{FOLDER}", port = 8000 }}
app = {{ command = "{BACK}", folder = "{FOLDER}", port = 8100 }}
sessions = {{ start = "/" }}
[load]
users = 10
think = "100ms"
phases = {{ ramp_up = "1s", runtime = "6s", ramp_down = "1s" }}
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial of that application."""
    folder = tmp_path_factory.mktemp("threads")
    (folder / "t.toml").write_text(EXPERIMENT)
    with commands(folder) as tierlab:
        _run(tierlab, folder)
    return folder / "runs" / "t" / "001"


def _run(tierlab: Start, folder: Path) -> None:
    ended = tierlab("run", folder / "t.toml", "--runs", folder / "runs").end(120)
    assert ended.status == 0, ended.stderr


def rows(run: Path, query: str) -> list[tuple[object, ...]]:
    """What a query finds, with `visits` for the table."""
    return duckdb.sql(query.replace("visits", f"'{run}/visits.parquet'", 1)).fetchall()


def test_two_calls_of_a_threaded_server_both_have_their_page(run: Path) -> None:
    """Times alone linked one of 3,718 such calls."""
    [(calls, linked)] = rows(
        run, "SELECT count(*), count(*) FILTER (link = 'thread') FROM visits WHERE server = 'app.1'"
    )
    assert isinstance(calls, int)
    assert isinstance(linked, int)
    assert calls > 200
    assert linked >= 0.999 * calls
    # Each page has the two calls that it makes, and the first is what its own path says.
    found = rows(
        run,
        f"""SELECT count(*) FROM visits AS page JOIN (
              SELECT parent, count(*) AS n, list(label ORDER BY arrival_ns) AS labels
              FROM '{run}/visits.parquet' WHERE server = 'app.1' GROUP BY parent
            ) AS calls ON calls.parent = page.visit
            WHERE page.server = 'web.1' AND (n <> 2 OR labels[2] <> 'GET /total'
              OR page.label = 'GET /wait/lock' AND labels[1] <> 'GET /lock'
              OR page.label = 'GET /wait/compute' AND labels[1] <> 'GET /compute')""",
    )
    assert found == [(0,)]


def test_the_parts_of_a_visit_are_its_time(run: Path) -> None:
    parts = " + ".join(PARTS)
    [(measured, near, visits)] = rows(
        run,
        f"""SELECT count({PARTS[0]}),
              count(*) FILTER (abs({parts} - (departure_ns - arrival_ns))
                               <= 0.02 * (departure_ns - arrival_ns)), count(*)
            FROM visits WHERE departure_ns IS NOT NULL""",
    )
    assert isinstance(visits, int)
    assert isinstance(near, int)
    assert measured == visits
    assert near >= 0.99 * visits


@pytest.mark.parametrize(
    ("label", "part"), [("compute", "cpu_ns"), ("lock", "lock_ns"), ("sleep", "other_ns")]
)
def test_what_a_request_did_for_20_ms_is_in_its_part(run: Path, label: str, part: str) -> None:
    """A thread that has no CPU on its way to sleep sleeps for less."""
    [(share, visits)] = rows(
        run,
        f"""SELECT count(*) FILTER ({part} >= 10e6 AND {part} + runnable_ns >= 19e6), count(*)
            FROM visits WHERE server = 'app.1' AND label = 'GET /{label}'""",
    )
    assert isinstance(visits, int)
    assert isinstance(share, int)
    assert visits > 20
    assert share >= 0.95 * visits


def test_a_page_waits_for_its_calls(run: Path) -> None:
    [(visits, waited)] = rows(
        run,
        f"""SELECT count(*), count(*) FILTER (page.calls_ns >= 0.95 * least(20e6, child.ns))
            FROM visits AS page JOIN (
              SELECT parent, departure_ns - arrival_ns AS ns FROM '{run}/visits.parquet'
              WHERE label IN ('GET /lock', 'GET /sleep')
            ) AS child ON child.parent = page.visit""",
    )
    assert isinstance(visits, int)
    assert isinstance(waited, int)
    assert visits > 20
    assert waited >= 0.95 * visits


def test_the_system_call_of_another_sleep_is_named(run: Path) -> None:
    [(name,)] = rows(
        run, "SELECT mode(other_call) FROM visits WHERE label = 'GET /sleep' AND other_ns > 1e7"
    )
    assert name == "clock_nanosleep"
