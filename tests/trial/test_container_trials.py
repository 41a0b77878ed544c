"""RUBBoS with each server in a container of its own: driven, seen, reported, removed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.trial.left import check_clean_clears, check_nothing_left
from tests.trial.reach import check_nothing_beyond

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

Write = Callable[..., Path]
TIERS = ("web.1", "app.1", "lb.1", "db.1")
STAGES = [
    ("podman", "start servers"),
    ("podman", "runtime"),
    # These two end in the same way: with a daemon of the trial's own.
    ("lxc", "start servers"),
    ("docker", "runtime"),
]
"""Where each is broken off here; in tests/environments/test_containers.py at any moment."""


@pytest.fixture(params=["podman", "docker", "lxc"])
def environment(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if (reason := obstacle(name)) is not None:
        pytest.skip(reason)
    return name


@pytest.mark.environments
def test_pages_are_served_driven_sampled_traced_reported_and_removed(
    environment: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    file = experiment(users=60, down=0, more='think = "1s"\n')
    command = tierlab("run", file, "--environment", environment)
    command.wait_for("runtime")
    check_nothing_beyond(f"t-001-{command.process.pid}")
    ended = command.end()
    assert ended.status == 0, ended.stderr
    assert environment in ended.stdout
    check_nothing_left(command, tmp_path, before)

    run = api.open(tmp_path / "runs" / "t" / "001")
    assert run.manifest.exit.state == "done"
    assert run.manifest.environment == environment
    assert not run.missing
    assert (run.path / "report.html").exists()
    with run.connect() as db:
        (served,) = db.execute("SELECT count(*) FROM requests WHERE error IS NULL").fetchall()[0]
        assert served > 20
        traced = dict(db.execute("SELECT server, count(*) FROM visits GROUP BY 1").fetchall())
        assert set(traced) == set(TIERS)
        assert traced["web.1"] >= served
        sampled = dict(
            db.execute(
                "SELECT subject, sum(cpu_ns) FROM domain WHERE cpu_ns IS NOT NULL GROUP BY 1"
            ).fetchall()
        )
        assert set(sampled) == set(TIERS)
        assert all(used > 0 for used in sampled.values())
        watched = db.execute("SELECT DISTINCT subject FROM process").fetchall()
        assert {name for (name,) in watched} >= set(TIERS)
    for pair in run.manifest.observation.summaries["link"]["pairs"]:
        # The pool's own statements, at its start, carry no id: many beside so few requests.
        linked = pair["by_id"] + pair["by_thread"] + pair["inferred"]
        assert linked >= 0.99 * (pair["visits"] - pair["unlinked"])
        assert pair["by_id"] + pair["by_thread"] >= 0.9 * linked


@pytest.mark.environments
@pytest.mark.parametrize(("environment", "stage"), STAGES, indirect=["environment"])
def test_ctrl_c_leaves_nothing(
    environment: str, stage: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(run=2), "--environment", environment)
    command.wait_for(stage)
    time.sleep(1)
    command.signal(signal.SIGINT)
    ended = command.end()
    assert ended.status == 130, ended.stderr
    check_nothing_left(command, tmp_path, before)


@pytest.mark.environments
@pytest.mark.parametrize("environment", ["podman", "lxc"], indirect=True)
def test_a_server_that_dies_fails_the_trial_in_a_sentence_and_leaves_nothing(
    environment: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(run=20), "--environment", environment)
    command.wait_for("runtime")
    (balancer,) = command.programs("haproxy")
    balancer.kill()
    ended = command.end()
    assert "lb.1" in ended.sentence
    assert "signal 9" in ended.sentence
    check_nothing_left(command, tmp_path, before)


@pytest.mark.environments
@pytest.mark.parametrize(("environment", "stage"), STAGES, indirect=["environment"])
def test_kill_9_then_clean_leaves_nothing(
    environment: str, stage: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(run=5), "--environment", environment)
    command.wait_for(stage)
    time.sleep(1.5)
    command.kill()
    check_clean_clears(command, tierlab, tmp_path, before)
