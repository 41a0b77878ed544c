"""Two servers of parallel kernels in domains of Xen's: driven, seen, reported, removed.

What runs in a guest is the same in Xen's and in QEMU's: all of RUBBoS is in test_qemu_trial.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import needs
from tests.figures import figure
from tests.trial.left import check_nothing_left
from tierlab.trial.truth import TruthFolder

SERVERS = ("compute.1", "compute.2")
EXPERIMENT = """
[experiment]
name = "t"

[system]
workload = "kernels"
environment = "xen"
scale = 0.0005

[system.compute]
count = 2
memory = "512MiB"
mapping = { place = "package:1.core:0", memory_node = 1, weight = 512 }

[load]
users = 4
think = "200ms"
mix = "barriers"
phases = { ramp_up = "2s", runtime = "18s", ramp_down = "1s" }

[[disturb]]
class = "steal"
on = "compute.1"
at = "6s"
duration = "6s"
"""
"""On the second socket, where they share a PU."""


pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.timeout(3600),
    needs("xen"),
]


def test_jobs_are_run_driven_sampled_traced_reported_and_removed(
    tierlab: Start, tmp_path: Path
) -> None:
    before, file = host(), tmp_path / "t.toml"
    file.write_text(EXPERIMENT)
    command = tierlab("run", file)
    ended = command.end(3500)
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)

    run = api.open(tmp_path / "runs" / "t" / "001")
    assert run.manifest.exit.state == "done"
    assert run.manifest.environment == "xen"
    assert (run.path / "report.html").exists()
    assert set(run.manifest.clocks) == {*SERVERS, "Domain-0"}
    # The whole way, from hwloc's words in a file to what Xen reads back.
    for name in SERVERS:
        found = run.manifest.mapping[name]["found"]
        assert (found["pus"], found["nodes"], found["weight"]) == ([2], [1], 512)
        assert found["memory"] == 512 << 20
        assert [each.dnu for each in run.manifest.dnu[name]] == [0]
    assert not {"domain", "cpu", "inside_cpu"} & set(run.missing)
    with run.connect() as db:
        (served,) = db.execute("SELECT count(*) FROM requests WHERE error IS NULL").fetchall()[0]
        assert served > 3
        traced = dict(db.execute("SELECT server, count(*) FROM visits GROUP BY 1").fetchall())
        assert set(traced) == set(SERVERS)
        assert sum(traced.values()) >= served
        names = db.execute("SELECT DISTINCT subject FROM inside_process").fetchall()
        assert {name for (name,) in names} == set(SERVERS)
        # Xen's own account is of the whole trial, and of domain 0 too.
        first, last = run.manifest.phases[0].start_ns, run.manifest.phases[-1].end_ns
        taken = db.execute(
            """SELECT subject, sum(cpu_ns), count(*) FROM domain
            WHERE t_ns BETWEEN ? AND ? GROUP BY 1""",
            [first, last],
        ).fetchall()
        assert {name for name, _, _ in taken} == {*SERVERS, "Domain-0", "neighbour.1"}
        # Looks are as seldom as its emulated CPUs are slow.
        assert all(cpu_ns > 0 and looks >= 3 for _, cpu_ns, looks in taken), taken
        # What a domain wrote by its own clock lies within the trial by the host's.
        seen = db.execute(
            """SELECT subject, count(*) FROM inside_cpu WHERE t_ns BETWEEN ? AND ? GROUP BY 1""",
            [first, last],
        ).fetchall()
        assert {name for name, ticks in seen if ticks > 2} == {f"{name}/cpu0" for name in SERVERS}
        (stolen,) = TruthFolder.of(run.path).happened()
        assert (stolen.class_, stolen.subject, stolen.done) == ("steal", "compute.1", True)
        assert stolen.start_ns is not None
        assert stolen.end_ns is not None
        assert stolen.end_ns - stolen.start_ns == pytest.approx(6e9, rel=0.25)
        # Of one core both computed all the time: each had half, and a seventeenth's half then.
        shares = db.execute(
            """WITH ticks AS (SELECT t_ns - dt_ns AS began, * FROM inside_cpu)
            SELECT began >= $start AND t_ns <= $end AS within, sum(steal * dt_ns) / sum(dt_ns)
            FROM ticks WHERE began >= $end OR t_ns <= $start OR within GROUP BY within""",
            {"start": stolen.start_ns, "end": stolen.end_ns},
        ).fetchall()
    share = dict(shares)
    figure(f"stolen {share[True]:.2f} while a neighbour computed, {share[False]:.2f} otherwise")
    assert share[True] > max(0.7, share[False] + 0.1)
