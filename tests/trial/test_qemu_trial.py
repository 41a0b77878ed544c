"""RUBBoS with each server in a virtual machine of its own: driven, seen, reported, removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import needs
from tests.trial.left import check_nothing_left
from tests.trial.reach import check_nothing_beyond
from tierlab.environments.qemu import kvm

Write = Callable[..., Path]
TIERS = ("web.1", "app.1", "lb.1", "db.1")
IN_QEMU = ("--environment", "qemu")


pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.timeout(3600),
    needs("qemu"),
]


def test_pages_are_served_driven_sampled_traced_reported_and_removed(
    tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    file = experiment(users=6, up=3, run=12, down=2)
    command = tierlab("run", file, *IN_QEMU)
    command.wait_for("runtime")
    check_nothing_beyond(f"t-001-{command.process.pid}")
    ended = command.end(3500)
    assert ended.status == 0, ended.stderr
    assert "qemu" in ended.stdout
    check_nothing_left(command, tmp_path, before)

    run = api.open(tmp_path / "runs" / "t" / "001")
    assert run.manifest.exit.state == "done"
    assert run.manifest.environment == "qemu"
    assert run.manifest.accelerator == ("kvm" if kvm.serves() else "tcg")
    assert not run.missing
    assert (run.path / "report.html").exists()
    assert set(run.manifest.clocks) == set(TIERS)
    for name, readings in run.manifest.clocks.items():
        assert len(readings) == 2, name
        assert all(each.uncertainty_ns < 50_000_000 for each in readings), readings
    with run.connect() as db:
        (served,) = db.execute("SELECT count(*) FROM requests WHERE error IS NULL").fetchall()[0]
        assert served > 5
        traced = dict(db.execute("SELECT server, count(*) FROM visits GROUP BY 1").fetchall())
        assert set(traced) == set(TIERS)
        assert traced["web.1"] >= served
        for table in ("domain", "listen", "inside_process"):
            names = db.execute(f"SELECT DISTINCT subject FROM {table}").fetchall()
            assert {name for (name,) in names} == set(TIERS), table
        for table in ("inside_disk", "hypervisor_disk"):
            names = db.execute(f"SELECT DISTINCT subject FROM {table}").fetchall()
            assert ("db.1/vdb",) in names, table
        # A virtual CPU is a thread of the hypervisor's: it ran, and what it waited is known.
        threads = db.execute(
            """SELECT subject, sum(run_ns), sum(wait_ns) FROM process
            WHERE thread IS NOT NULL AND name LIKE 'CPU%' GROUP BY 1"""
        ).fetchall()
        assert {name for name, _, _ in threads} == set(TIERS)
        assert all(run_ns > 0 and wait_ns is not None for _, run_ns, wait_ns in threads)
        # What the guest wrote by its own clock lies within the trial by the host's.
        start, end = run.manifest.phases[0].start_ns, run.manifest.phases[-1].end_ns
        seen = db.execute(
            """SELECT subject, count(*) FROM inside_cpu WHERE t_ns BETWEEN ? AND ? GROUP BY 1""",
            [start, end],
        ).fetchall()
        assert {name for name, ticks in seen if ticks > 2} == {f"{name}/cpu0" for name in TIERS}
    for pair in run.manifest.observation.summaries["link"]["pairs"]:
        linked = pair["by_id"] + pair["inferred"]
        assert linked >= 0.95 * (pair["visits"] - pair["unlinked"])
