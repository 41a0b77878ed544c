"""RUBBoS on domains with addresses of their own, watched from outside and inside: what is around
guests, with guests that have no kernel.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tierlab as api
from tests.conftest import host
from tests.environments.veth_guest import Veth
from tests.pace import pace
from tierlab.environments.addresses import BRIDGED
from tierlab.environments.ledger import accounts
from tierlab.experiment import Experiment
from tierlab.experiment.file import read_tables
from tierlab.tables.folder import create
from tierlab.tables.run import Run
from tierlab.trial import life
from tierlab.trial.progress import Silent

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

TIERS = ("web.1", "app.1", "lb.1", "db.1")
MS = 1_000_000


@pytest.fixture
def run(experiment: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A finished trial."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(life, "KINDS", {"veth": Veth})
    (plan,) = Experiment.from_tables(read_tables(experiment(users=60, run=5))).trials()
    system = plan.system.model_copy(update={"environment": "veth"})
    plan = plan.model_copy(update={"system": system})
    before = host()
    folder = create(tmp_path / "runs", "t")
    manifest = life.run_trial(plan, folder, Silent())
    assert manifest.exit.state == "done", manifest.exit.error
    assert not (changed := host().unlike(before)), changed
    assert accounts() == []
    return api.open(folder.path)


def test_all_is_seen_from_outside_and_inside_on_one_clock(run: Run) -> None:
    assert set(run.missing) == {"hypervisor_disk"}  # there is no hypervisor
    addresses = [server.address for server in run.manifest.servers.values()]
    assert addresses == [BRIDGED.server(tier, 1) for tier in (1, 2, 3, 4)]
    assert set(run.manifest.clocks) == set(TIERS)
    for readings in run.manifest.clocks.values():
        assert len(readings) == 2  # before and after
        assert all(abs(each.offset_ns) <= each.uncertainty_ns for each in readings)
        assert min(each.uncertainty_ns for each in readings) < 20 * MS * pace()
    with run.connect() as db:
        (served,) = db.execute("SELECT count(*) FROM requests WHERE error IS NULL").fetchall()[0]
        assert served > 20
        traced = dict(db.execute("SELECT server, count(*) FROM visits GROUP BY 1").fetchall())
        assert set(traced) == set(TIERS)
        assert traced["web.1"] >= served
        outside = db.execute("SELECT DISTINCT subject FROM domain WHERE cpu_ns > 0").fetchall()
        assert {name for (name,) in outside} == set(TIERS)
        for table in ("listen", "inside_process"):
            names = db.execute(f"SELECT DISTINCT subject FROM {table}").fetchall()
            assert {name for (name,) in names} == set(TIERS), table
        cores = {f"{server}/cpu{pu}" for server in TIERS for pu in range(os.cpu_count() or 1)}
        names = db.execute("SELECT DISTINCT subject FROM inside_cpu").fetchall()
        assert {name for (name,) in names} == cores
        wires = db.execute("SELECT DISTINCT subject FROM inside_net").fetchall()
        assert {f"{server}/eth0" for server in TIERS} <= {name for (name,) in wires}
        assert db.execute("SELECT DISTINCT subject FROM database").fetchall() == [("db.1",)]
        machine = db.execute("SELECT DISTINCT subject FROM cpu").fetchall()
        assert {name for (name,) in machine} == {f"cpu{pu}" for pu in range(os.cpu_count() or 1)}
    for pair in run.manifest.observation.summaries["link"]["pairs"]:
        linked = pair["by_id"] + pair["inferred"]
        assert linked >= 0.99 * (pair["visits"] - pair["unlinked"])
    assert (run.path / "logs" / "agent.sample.db.1.log").exists()
