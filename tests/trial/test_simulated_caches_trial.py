"""A trial whose guests' caches are simulated: a table of counters with who missed where."""

from __future__ import annotations

from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import needs
from tests.trial.left import check_nothing_left
from tierlab.environments.capability import Capability

EXPERIMENT = """
[experiment]
name = "t"
[system]
workload = "static"
environment = "{environment}"
[load]
users = 4
think = "50ms"
phases = {{ ramp_up = "1s", runtime = "4s", ramp_down = "1s" }}
[observe]
simulated_caches = "{machine}"
"""
TWO_PACKAGES = "pack:2 l3:1(size=8MiB) l2:1(size=1MiB) l1d:1(size=32KiB) core:1 pu:1"


@pytest.mark.environments
@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.timeout(900)
@needs("qemu", Capability.SIMULATED_CACHES)
def test_a_trial_has_counters_of_its_guest(tierlab: Start, tmp_path: Path) -> None:
    before, file = host(), tmp_path / "t.toml"
    file.write_text(EXPERIMENT.format(environment="qemu", machine=TWO_PACKAGES))
    command = tierlab("run", file)
    ended = command.end(800)
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)

    run = api.open(tmp_path / "runs" / "t" / "001")
    start, end = run.manifest.phases[0].start_ns, run.manifest.phases[-1].end_ns
    with run.connect() as db:
        events = dict(
            db.execute(
                """SELECT event, count(DISTINCT t_ns) FROM counters
                WHERE domain = 'web.1' AND source = 'simulated' AND t_ns BETWEEN ? AND ?
                GROUP BY 1""",
                [start, end],
            ).fetchall()
        )
        named = db.execute(
            """SELECT DISTINCT "binary" FROM counters WHERE symbol IS NOT NULL"""
        ).fetchall()
    assert set(events) == {
        *("instructions", "memory-accesses"),
        *("L1-dcache-misses", "L2-misses", "LLC-misses"),
    }
    assert events["instructions"] > 20, "ticks of 50 ms"
    assert ("[kernel.kallsyms]",) in named
    assert any("libc.so" in binary for (binary,) in named), "httpd's too"


@pytest.mark.parametrize(
    ("environment", "machine", "why"),
    [
        ("native", "host", "the native environment cannot simulate caches here, because its"),
        ("native", "", "observe.simulated_caches"),
    ],
)
def test_it_is_refused_in_one_sentence(
    environment: str, machine: str, why: str, tierlab: Start, tmp_path: Path
) -> None:
    (tmp_path / "t.toml").write_text(EXPERIMENT.format(environment=environment, machine=machine))
    ended = tierlab("run", tmp_path / "t.toml").end()
    assert ended.status != 0
    assert why in ended.stderr
    assert "observe.simulated_caches" in ended.stderr
    assert not list((tmp_path / "runs").glob("*"))
