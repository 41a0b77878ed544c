"""What the thread of an event loop did, held against its control group's CPU time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import duckdb
import pytest

from tests.command import commands
from tests.figures import figure

EXPERIMENT = """
[experiment]
name = "t"
[system]
workload = "own"
sessions = {{ start = "/" }}
[system.web]
command = "/usr/bin/python3 event_loop.py {{address}} {{port}}"
folder = "{folder}"
port = 8000
[load]
users = 12
think = "40ms"
phases = {{ ramp_up = "1s", runtime = "5s", ramp_down = "0s" }}
"""
STATES = ("cpu", "runnable", "throttled", "stopped", "disk", "lock", "asleep")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


def test_an_event_loop_s_thread_has_its_own_states_over_time(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(EXPERIMENT.format(folder=Path(__file__).parent))
    with commands(tmp_path) as tierlab:
        ended = tierlab("run", tmp_path / "t.toml", "--runs", tmp_path / "runs").end(120)
    assert ended.status == 0, ended.stderr
    run = tmp_path / "runs" / "t" / "001"

    runtime = json.loads((run / "manifest.json").read_text())["phases"][1]
    span = f"t_ns - dt_ns >= {runtime['start_ns']} AND t_ns <= {runtime['end_ns']}"
    sums = ", ".join(f"sum({each}_ns)" for each in STATES)
    with duckdb.connect() as db:
        [(threads, rows, seen_ns, *states)] = db.sql(
            f"""SELECT count(DISTINCT thread), count(*), sum(dt_ns), {sums}
            FROM '{run}/threads.parquet' WHERE subject = 'web.1' AND {span}"""
        ).fetchall()
        [(group_ns, group_seen_ns)] = db.sql(
            f"""SELECT sum(cpu_ns), sum(dt_ns) FROM '{run}/domain.parquet'
            WHERE subject = 'web.1' AND {span}"""
        ).fetchall()
    assert threads == 1
    # 5 s in stretches of 50 ms and a little more.
    assert 50 <= rows <= 100
    assert sum(states) == pytest.approx(seen_ns, rel=0.01)
    mine, groups = states[0] / seen_ns, group_ns / group_seen_ns
    figure(f"an event loop's thread was on a CPU for {mine:.3f}, its control group {groups:.3f}")
    assert groups > 0.2
    assert mine == pytest.approx(groups, rel=0.05)
    [waits] = json.loads((run / "summary.json").read_text())["waits"]
    assert waits["all"] is None
    told = {each["name"]: each["share"] for each in waits["loops"]["states"]}
    assert told["cpu"] == pytest.approx(mine, rel=0.05)
