"""Links by thread and what visits waited for, on a threaded server that nobody else wrote for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

from tests.command import commands
from tests.figures import figure

FOLDER = Path(__file__).parent
PYTHON = "/usr/bin/python3"
PARTS = (
    *("queued_ns", "cpu_ns", "runnable_ns", "throttled_ns", "stopped_ns", "disk_ns"),
    *("lock_ns", "calls_ns", "connecting_ns", "other_ns", "sending_ns"),
)
EXPERIMENT = """
[experiment]
name = "t"
[system]
workload = "own"
sessions = {{ start = "/" }}
web = {{ command = "{front} {{address}} {{port}} {{app}}", folder = "{folder}", port = 8000 }}
app = {{ command = "{back} {{address}} {{port}}", folder = "{folder}", port = 8100 }}
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
    return _run(tmp_path_factory.mktemp("threads"), f"{PYTHON} two_calls.py front")


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a pool of threads behind the one that reads."""
    return _run(tmp_path_factory.mktemp("pool"), f"{PYTHON} two_calls.py pool")


@pytest.fixture(scope="module")
def goroutines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a goroutine for each request."""
    folder = tmp_path_factory.mktemp("goroutines")
    brought = folder / "brought"
    brought.mkdir()
    shutil.copy(FOLDER / "two_calls.py", brought)
    command = ["go", "build", "-o", brought / "two_calls", FOLDER / "two_calls.go"]
    subprocess.run(command, check=True, env={**os.environ, "GOCACHE": str(folder / "cache")})
    return _run(folder, "./two_calls", brought)


def _run(folder: Path, front: str, brought: Path = FOLDER) -> Path:
    back = f"{PYTHON} two_calls.py back"
    (folder / "t.toml").write_text(EXPERIMENT.format(front=front, back=back, folder=brought))
    with commands(folder) as tierlab:
        ended = tierlab("run", folder / "t.toml", "--runs", folder / "runs").end(120)
    assert ended.status == 0, ended.stderr
    return folder / "runs" / "t" / "001"


def rows(run: Path, query: str) -> list[tuple[object, ...]]:
    """What a query finds, with `visits` for the table."""
    # A connection of its own: another test may have left the common one in the middle of a result.
    with duckdb.connect() as own:
        return own.sql(query.replace("visits", f"'{run}/visits.parquet'", 1)).fetchall()


def test_two_calls_of_a_threaded_server_both_have_their_page(run: Path) -> None:
    """Times alone linked one of 3,718 such calls."""
    assert_calls_have_their_pages(run)


def test_two_calls_of_a_pool_behind_a_reader_both_have_their_page(pooled: Path) -> None:
    """Of a server with such a pool, 97 of 100 calls had no parent."""
    assert_calls_have_their_pages(pooled)


def test_two_calls_of_a_goroutine_both_have_their_page(goroutines: Path) -> None:
    """It changes threads between them."""
    assert_calls_have_their_pages(goroutines)
    [(threads,)] = rows(goroutines, "SELECT count(thread) FROM visits WHERE server = 'web.1'")
    assert threads == 0, "what a goroutine waited for is not what its threads waited for"


def assert_calls_have_their_pages(run: Path) -> None:
    """Nearly all calls have a page, and each page its own two."""
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
    assert isinstance(measured, int)
    figure(f"{measured} of {visits} visits have parts, which are the time of {near} within 2 %")
    assert measured >= 0.99 * visits
    assert near >= 0.99 * visits


def test_the_cpu_time_of_visits_is_their_servers(goroutines: Path) -> None:
    """Of one that does nothing but answer, on connections that are kept: its control group's time.
    That leaves out interrupts, which visits' time has. Aimed at was 3 %; 0.966 to 1.026 of it was
    seen, least where the machine is busy: a few visits in a thousand have no thread.
    """
    phases = json.loads((goroutines / "manifest.json").read_text())["phases"]
    begin, end = phases[0]["start_ns"], phases[-1]["end_ns"]
    [(of_visits, of_group)] = rows(
        goroutines,
        f"""SELECT sum(cpu_ns), (SELECT sum(cpu_ns) FROM '{goroutines}/domain.parquet'
                WHERE subject = 'app.1' AND t_ns - dt_ns >= {begin} AND t_ns <= {end})
            FROM visits WHERE server = 'app.1' AND arrival_ns BETWEEN {begin} AND {end}""",
    )
    assert isinstance(of_visits, int)
    assert isinstance(of_group, int)
    figure(f"visits' CPU time is {of_visits / of_group:.3f} of their server's")
    assert of_group > 1e9
    assert abs(of_visits / of_group - 1) < 0.05


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
