"""A server of the user's own that listens nowhere: a worker, which only calls others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.command import Start
from tests.conftest import host
from tests.own.conftest import FOLDER, PYTHON
from tests.trial.left import check_nothing_left
from tierlab.deploy.layout import layout, topology
from tierlab.environments.addresses import LOOPBACK
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.observe import plans

FILE = f"""
[experiment]
name = "t"
[system]
workload = "own"
sessions = {{ start = "/" }}
[system.web]
command = "{PYTHON} front.py {{port}} {{address}} redis:{{queue}}"
folder = "{FOLDER}"
port = 8000
[system.jobs]
command = "{PYTHON} worker.py {{queue}}"
folder = "{FOLDER}"
says = "waiting for jobs"
[system.queue]
server = "redis"
[load]
users = 1
"""
FRONT = {"command": "/bin/sleep 1", "port": 8000, "calls": ["queue"]}
WORKER = {"command": "/bin/sleep 1", "calls": ["queue"], "says": "waiting"}


def trial(**tables: Any) -> TrialPlan:
    system = {"workload": "own", "sessions": {"start": "/"}, "front": FRONT, "jobs": WORKER}
    document = {
        "experiment": {"name": "own"},
        "system": system | {"queue": {"server": "redis"}} | tables,
        "load": {"users": 5},
    }
    (plan,) = Experiment.from_tables(document, "my.toml").trials()
    return plan


def test_users_do_not_call_it_and_its_calls_are_known() -> None:
    shape = trial().system
    places = layout(shape, LOOPBACK)
    graph = topology(shape, places)
    assert graph.entries == ["front.1"]
    assert graph.callers("queue.1") == ["front.1", "jobs.1"]
    captured = plans.capture(list(places.values()), "lo")["servers"]
    assert [each["name"] for each in captured] == ["front.1", "queue.1"]


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            {"jobs": WORKER | {"ready": "/health"}},
            "system.jobs.ready goes with a port; say which, or remove it.",
        ),
        (
            {"jobs": WORKER | {"host": "shop.example"}},
            "system.jobs.host goes with a port; say which, or remove it.",
        ),
        (
            {"front": FRONT | {"calls": ["queue", "jobs"]}},
            "system.jobs.port is missing: system.front calls it.",
        ),
        (
            {"front": {key: FRONT[key] for key in ("command", "calls")}},
            "system.front.port is missing: users call the first server.",
        ),
    ],
)
def test_who_is_called_has_a_port(tables: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        trial(**tables)
    assert str(raised.value) == f"my.toml: {sentence}"


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_worker_comes_up_and_calls(tierlab: Start, tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text(FILE)
    before = host()
    command = tierlab("check", "e.toml", "--seconds", "1")
    ended = command.end()
    assert ended.status == 0, ended.stdout + ended.stderr
    assert "works  jobs.1 (command) runs.\n" in ended.stdout
    assert "works  jobs.1 -> queue.1 redis: declared and seen (1 connection).\n" in ended.stdout
    check_nothing_left(command, tmp_path, before)
