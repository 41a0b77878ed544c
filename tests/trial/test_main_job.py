"""The main job on the real four tiers, held against the servers' own records."""

from __future__ import annotations

import bisect
import os
import statistics
from collections.abc import Iterator

import duckdb
import pytest

import tierlab as api
from tests.command import Command
from tests.conftest import Traces, host
from tests.figures import figure
from tests.pace import pace
from tests.trial.conftest import EXPERIMENT
from tests.trial.reach import check_nothing_beyond
from tierlab.analysis.observed import observe
from tierlab.analysis.queues.little import WORKERS
from tierlab.analysis.summary import Summary, summarise
from tierlab.tables.run import Run

pytestmark = [
    pytest.mark.alone,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

STATEMENTS = {
    "Com_select": "SELECT",
    "Com_insert": "INSERT",
    "Com_update": "UPDATE",
    "Com_delete": "DELETE",
    "Com_begin": "START TRANSACTION",
    "Com_commit": "COMMIT",
}
"""MariaDB's counter of each kind of statement, and how its digests begin."""

LEAST_SHARE = 0.9999
SECONDS = 10


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A trial of some thousand requests, of which only the run folder is left."""
    folder = tmp_path_factory.mktemp("main-job")
    file = folder / "main-job.toml"
    # Users think for half the usual time, and make as many requests as in twice the time. There are
    # few of them, because an overloaded machine never becomes steady, and some are slow.
    text = EXPERIMENT.format(name="main-job", users=500, up=4, run=SECONDS, down=1)
    file.write_text(text + 'think = "3500ms"\n[observe.profile]\nrate = 499\n')
    before = host()
    command = Command(folder, "run", file)
    trial = f"main-job-001-{command.process.pid}"
    command.wait_for("runtime")
    check_nothing_beyond(trial)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    traces = Traces(trial, folder / "state")
    assert traces.none(), traces.found()
    assert not (changed := host().unlike(before)), changed
    return api.open(folder / "runs" / "main-job" / "001")


@pytest.fixture(scope="module")
def db(run: Run) -> Iterator[duckdb.DuckDBPyConnection]:
    with run.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def summary(run: Run) -> Summary:
    return summarise(observe(run))


def one(db: duckdb.DuckDBPyConnection, query: str) -> int:
    row = db.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def access_log(run: Run, subject: str) -> list[list[str]]:
    """Lines of requests that the driver made: they carry its request id."""
    lines = (run.path / "logs" / subject / "logs" / "access.log").read_text().splitlines()
    id_column = {"web.1": 2, "app.1": 1}[subject]
    return [fields for fields in map(str.split, lines) if fields[id_column] != "-"]


def test_no_request_failed_and_every_one_was_traced(
    db: duckdb.DuckDBPyConnection, summary: Summary
) -> None:
    assert summary.responses is not None
    assert summary.responses.failed == 0
    pages = one(db, "SELECT count(*) FROM requests WHERE error IS NULL")
    assert pages > 1000  # as many as its users can ask for, on a slow machine fewer
    visits = one(
        db, "SELECT count(*) FROM visits WHERE server = 'web.1' AND label NOT LIKE '%image%'"
    )
    assert visits >= pages


@pytest.mark.parametrize("subject", ["web.1", "app.1"])
def test_visits_are_the_servers_own_log_lines(
    subject: str, run: Run, db: duckdb.DuckDBPyConnection
) -> None:
    logged = len(access_log(run, subject))
    # What the readiness checks asked carries no request id and comes before the first user.
    first_user = one(db, "SELECT min(start_ns) FROM requests")
    seen = one(
        db,
        f"""SELECT count(*) FROM visits WHERE server = '{subject}' AND departure_ns IS NOT NULL
            AND arrival_ns >= {first_user}""",
    )
    figure(f"{subject}: {seen} visits, {logged} log lines")
    assert abs(seen - logged) <= (1 - LEAST_SHARE) * logged


def test_statements_are_the_databases_own_counters(run: Run, db: duckdb.DuckDBPyConnection) -> None:
    text = (run.path / "logs" / "db.1" / "logs" / "status.tsv").read_text()
    counters = dict(line.split("\t", 1) for line in text.splitlines())
    for counter, beginning in STATEMENTS.items():
        counted = int(counters[counter])
        seen = one(
            db,
            f"""SELECT count(*) FROM visits
                WHERE server = 'db.1' AND upper(label) LIKE '{beginning}%'""",
        )
        figure(f"{counter}: {seen} visits, {counted} counted")
        assert abs(seen - counted) <= (1 - LEAST_SHARE) * counted


def test_visit_time_is_the_web_servers_own_duration(
    run: Run, db: duckdb.DuckDBPyConnection
) -> None:
    visits = db.execute(
        """SELECT arrival_ns // 1000, (departure_ns - arrival_ns) // 1000, label FROM visits
           WHERE server = 'web.1' AND departure_ns IS NOT NULL ORDER BY arrival_ns"""
    ).fetchall()
    by_page: dict[str, list[tuple[int, int]]] = {}
    for arrival_us, took_us, label in visits:
        by_page.setdefault(label, []).append((arrival_us, took_us))
    differences = []
    for fields in access_log(run, "web.1"):
        began_us, took_us = int(fields[0]), int(fields[1])
        page = f"{fields[10][1:]} {fields[11]}"
        in_order = by_page.get(page, [(0, 0)])
        later = bisect.bisect(in_order, (began_us, 0))
        arrival_us, traced_us = min(
            in_order[max(0, later - 1) : later + 1], key=lambda visit: abs(visit[0] - began_us)
        )
        if abs(arrival_us - began_us) < 5_000:
            differences.append(traced_us - took_us)
    figure(f"{len(differences)} pairs, median difference {statistics.median(differences)} us")
    assert len(differences) > 0.9 * len(visits)
    assert abs(statistics.median(differences)) <= 200 * pace()


def test_links_by_thread_and_id_are_complete_and_agree(run: Run) -> None:
    for pair in run.manifest.observation.summaries["link"]["pairs"]:
        figure(str(pair))
        # The pool's own statements (SET, PING, LOGIN) belong to no request and carry no id.
        of_requests = pair["visits"] - pair["unlinked"]
        assert pair["by_id"] + pair["by_thread"] >= 0.99 * of_requests
        assert of_requests >= 0.95 * pair["visits"]
        # The ids are an oracle that the threads know nothing of.
        check = pair["thread_check"]
        assert check["differ"] <= 0.001 * check["visits"]
    checked = {
        pair["pair"]: pair["thread_check"]["visits"]
        for pair in run.manifest.observation.summaries["link"]["pairs"]
    }
    assert checked["app-lb"] > 1_000


def test_littles_law_holds_at_every_tier_and_for_the_users(summary: Summary) -> None:
    checks = {check.subject: check for check in summary.checks if check.law != WORKERS}
    assert set(checks) == {"web.1", "app.1", "lb.1", "db.1", "users"}
    for check in checks.values():
        figure(f"{check.subject}: {check.law} within {check.difference:.2%}")
        assert check.holds


def test_no_server_counts_more_busy_workers_than_visits(summary: Summary) -> None:
    """Tomcat's and MariaDB's own counts, which no message tells: a busy worker has a visit.

    They are lower, by a third where others keep the processors busy: visits wait for a worker.
    """
    checks = {check.subject: check for check in summary.checks if check.law == WORKERS}
    assert set(checks) == {"app.1", "db.1"}
    for check in checks.values():
        figure(f"{check.subject}: {check.counted:.2f} busy, {check.expected:.2f} visits")
        assert check.counted > 0
        assert check.holds
    assert {"busy workers of web.1", "busy workers of lb.1"} <= summary.not_measured.keys()


def test_every_table_is_there_and_fine_grained(run: Run, db: duckdb.DuckDBPyConnection) -> None:
    assert not run.missing
    for table in ("cpu", "memory", "disk", "tcp", "listen", "domain"):
        assert one(db, f"SELECT count(DISTINCT t_ns) FROM {table}") > SECONDS * 15, table
    # Every single thread is looked at once a second, not at every tick.
    assert one(db, "SELECT count(DISTINCT t_ns) FROM process") >= SECONDS
    median_ns = one(db, "SELECT median(dt_ns) FROM cpu")
    assert abs(median_ns - 50_000_000) < 1_000_000


def test_sampled_shares_are_those_of_the_control_groups(db: duckdb.DuckDBPyConnection) -> None:
    """Of the machine's time. A clock's interrupt waits while the kernel has interrupts off, and so
    hits who comes next: servers that sleep often have too few samples, those that compute too many.
    """
    (first, last, pus), *_ = db.execute(
        "SELECT min(t_ns), max(t_ns), count(DISTINCT cpu) FROM counters WHERE event = 'cpu-clock'"
    ).fetchall()
    all_ns = pus * (last - first)
    sampled = dict(
        db.execute(
            """SELECT domain, sum(count) FROM counters
               WHERE domain LIKE '%.1' AND event = 'cpu-clock' GROUP BY ALL"""
        ).fetchall()
    )
    used = dict(
        db.execute(
            "SELECT subject, sum(cpu_ns) FROM domain WHERE t_ns BETWEEN ? AND ? GROUP BY ALL",
            [first, last],
        ).fetchall()
    )
    assert sampled.keys() == used.keys() == {"web.1", "app.1", "lb.1", "db.1"}
    for server in used:
        shares = [int(each[server]) / all_ns for each in (sampled, used)]
        figure(f"{server}: {shares[0]:.1%} by samples, {shares[1]:.1%} by its control group")
        # A quick machine stays within 0.02. On a slow one, the server that computes most had a
        # tenth more of the samples than of the CPU time, with the system-call tracer and without.
        assert abs(shares[0] - shares[1]) <= max(0.02, 0.12 * shares[1])


def test_events_are_counted_of_every_server_on_every_core_at_every_tick(
    db: duckdb.DuckDBPyConnection,
) -> None:
    whole = "event = 'page-faults' AND dt_ns > 0"
    assert one(db, f"SELECT count(DISTINCT t_ns) FROM counters WHERE {whole}") >= SECONDS * 15
    assert one(db, f"SELECT count(DISTINCT cpu) FROM counters WHERE {whole}") > 1
    counted = dict(
        db.execute(f"SELECT domain, sum(count) FROM counters WHERE {whole} GROUP BY ALL").fetchall()
    )
    assert counted.keys() == {"web.1", "app.1", "lb.1", "db.1", "host"}
    # Once a second the samplers look for new processes, whose first faults they do not see.
    seen = one(
        db,
        """SELECT sum(minor_faults + major_faults) FROM process
           WHERE subject = 'app.1' AND thread IS NULL""",
    )
    figure(f"app.1: {counted['app.1']} page faults counted, {seen} by its processes")
    assert 0.95 * seen <= counted["app.1"] <= 1.1 * seen + 100


def test_functions_of_the_java_machine_have_names(db: duckdb.DuckDBPyConnection) -> None:
    (known, own, rubbos), *_ = db.execute(
        """SELECT count(symbol), count(*), count(*) FILTER (symbol LIKE '%org.tierlab.rubbos%')
           FROM counters WHERE domain = 'app.1' AND dt_ns = 0
           AND coalesce("binary" = '[JIT]' OR "binary" LIKE '%/libjvm.so', true)"""
    ).fetchall()
    (through,), *_ = db.execute(
        """SELECT count(*) FROM counters JOIN stacks USING (stack)
           WHERE domain = 'app.1' AND "binary" = '[kernel.kallsyms]'
           AND array_to_string(frames, ' ') LIKE '%org.mariadb.jdbc%'"""
    ).fetchall()
    figure(f"{known} of {own} samples of the JVM's own have a name, {rubbos} of RUBBoS")
    assert known >= 0.9 * own > 90
    assert rubbos > 0
    assert through > 0, "no stack goes from the kernel through Java"
