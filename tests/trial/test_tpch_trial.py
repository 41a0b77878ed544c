"""TPC-H's third query by streams: its workers seen, every statement a request and a visit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.trial.left import check_nothing_left

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

EXPERIMENT = """
[experiment]
name = "t"
[system]
workload = "tpch"
scale = 0.05
[system.db]
soft = { statement_workers = 2, work_memory = "16MiB" }
[load]
users = 2
mix = "q3-drawn"
think = "20ms"
phases = { ramp_up = "0s", runtime = "4s", ramp_down = "0s" }
[observe]
interval = "20ms"
"""


def test_statements_are_requests_and_visits_and_their_workers_are_seen(
    tierlab: Start, tmp_path: Path
) -> None:
    before, file = host(), tmp_path / "t.toml"
    file.write_text(EXPERIMENT)
    command = tierlab("run", file)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)

    run = api.open(tmp_path / "runs" / "t" / "001")
    # A database keeps no log of its limits.
    assert set(run.missing) == {"soft"}
    log = run.path / "logs" / "db.1" / "logs" / "statements.tsv"
    counted = [line.split("\t") for line in log.read_text().splitlines()]
    (calls,) = (int(calls) for calls, text in counted if "c_mktsegment" in text)
    with run.connect() as db:
        requests = db.execute("SELECT count(*) FROM requests WHERE error IS NULL").fetchall()[0][0]
        visits = db.execute("SELECT count(*) FROM visits WHERE label ^@ 'SELECT l_orderkey'")
        visited = visits.fetchall()[0][0]
        workers = db.execute("SELECT max(workers_running) FROM database").fetchall()[0][0]
        failed = db.execute("SELECT count(*) FROM requests WHERE error != 'cut'").fetchall()[0][0]
    assert requests > 10
    assert failed == 0
    # One that the trial's end cut off may have been counted.
    assert requests <= visited <= calls + 2 <= requests + 4
    assert 0 < workers <= 4
