"""Two RUBiS on one host: each with its own servers, users and figures, in one run."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.trial.left import check_nothing_left
from tests.trial.linked import check_links
from tierlab.notebook.run import OpenedRun

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

EXPERIMENT = """
[experiment]
name = "t"
[[system]]
name = "shop"
workload = "rubis"
scale = 0.001
[system.load]
users = 60
think = "300ms"
[[system]]
name = "market"
workload = "rubis"
scale = 0.001
[system.load]
users = 30
think = "300ms"
mix = "browsing"
[load]
phases = { ramp_up = "1s", runtime = "4s", ramp_down = "1s" }
"""
SYSTEMS = ["shop", "market"]
USERS = {"shop": range(60), "market": range(60, 90)}


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


def test_two_systems_on_one_host(tierlab: Start, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(EXPERIMENT)
    before = host()
    command = tierlab("run", path)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)
    run = api.open(tmp_path / "runs" / "t" / "001")
    requests = run.requests.execute()
    check_each_request_went_to_its_own_system(run, requests)
    check_no_call_leads_across(run)
    check_each_has_figures_of_its_own(run, requests, ended.stdout)
    for name in SYSTEMS:
        assert {f"{name}.web.1", f"{name}.db.1"} <= set(run.process.execute().subject)


def check_each_request_went_to_its_own_system(run: OpenedRun, requests: pd.DataFrame) -> None:
    with run.connect() as db:
        visits = dict(
            db.execute(
                "SELECT server, count(*) FROM visits WHERE label != 'LOGIN' GROUP BY 1"
            ).fetchall()
        )
    for name in SYSTEMS:
        mine = requests[requests.system == name]
        assert len(mine) >= 2 * len(USERS[name])
        assert set(mine.user) == set(USERS[name])
        # On a slow machine some are under way in the end.
        assert mine.error.dropna().isin(["cut"]).all()
        ended = mine[mine.error.isna()]
        assert len(ended) > 0.9 * len(mine)
        log = (run.path / f"logs/{name}.web.1/logs/access.log").read_text()
        assert all(each in log for each in ended.request_id.dropna())
        asked = len(log.splitlines())
        assert abs(visits[f"{name}.web.1"] - asked) <= 1e-4 * asked
    shop, market = (set(requests[requests.system == name].session) for name in SYSTEMS)
    assert not shop & market


def check_no_call_leads_across(run: OpenedRun) -> None:
    assert run.manifest.topology.entries == [f"{name}.web.1" for name in SYSTEMS]
    check_links(run)
    with run.connect() as db:
        across = db.execute(
            """SELECT count(*) FROM visits c JOIN visits p ON c.parent = p.visit
            WHERE split_part(c.server, '.', 1) != split_part(p.server, '.', 1)"""
        ).fetchone()
    assert across == (0,)


def check_each_has_figures_of_its_own(run: OpenedRun, requests: pd.DataFrame, said: str) -> None:
    (runtime,) = [phase for phase in run.manifest.phases if phase.name == "runtime"]
    inside = requests[requests.end_ns.between(runtime.start_ns, runtime.end_ns - 1)]
    assert [each.name for each in run.summary.systems] == SYSTEMS
    for each in run.summary.systems:
        assert each.responses is not None
        assert each.responses.count == (inside.system == each.name).sum()
        assert f"{each.name} (rubis, {len(USERS[each.name])} users)" in said
    assert run.summary.responses is not None
    assert run.summary.responses.count == len(inside)
    assert not any("Nothing links" in each for each in run.summary.caveats)
    assert run.diagnosis.verdict in {"findings", "nothing abnormal"}
    assert run.manifest.load["users"] == 90
    assert {part.system for part in run.manifest.servers.values()} == set(SYSTEMS)
