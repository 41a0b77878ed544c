"""The web server in a virtual machine of a vCenter's: driven, seen, changed, reported, removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.vcenter import vcenter
from tests.trial.left import check_nothing_left
from tests.trial.reach import sockets

EXPERIMENT = """
[experiment]
name = "t"
[system]
workload = "{workload}"
environment = "vsphere"
[load]
users = 10
phases = {{ ramp_up = "2s", runtime = "8s", ramp_down = "1s" }}
"""
PLACED = """
[system.web]
memory = "512MiB"
mapping = { pus = [0], weight = 512 }

[[change]]
on = "web.1"
at = "4s"
weight = 2048
"""

pytestmark = [
    pytest.mark.alone,
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


@pytest.fixture(autouse=True)
def keeper(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    with vcenter(tmp_path_factory.mktemp("keeper")) as words:
        for name, value in words.items():
            monkeypatch.setenv(name, value)
        yield


def test_a_page_is_served_driven_sampled_changed_reported_and_removed(
    tierlab: Start, tmp_path: Path
) -> None:
    before, listened = host(), sockets()
    (tmp_path / "t.toml").write_text(EXPERIMENT.format(workload="static") + PLACED)
    command = tierlab("run", tmp_path / "t.toml")
    command.wait_for("runtime")
    assert all(each.startswith("127.") for each in sockets() - listened)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)

    run = api.open(tmp_path / "runs" / "t" / "001")
    assert run.manifest.exit.state == "done"
    assert run.manifest.environment == "vsphere"
    found = run.requests.filter(run.requests.error.isnull()).count().execute()
    assert found > 0
    assert run.inside_cpu.count().execute() > 0
    assert (run.path / "logs" / "web.1" / "httpd.conf").exists()
    assert (run.path / "report.html").exists()


@pytest.mark.parametrize(
    ("workload", "more", "cannot"),
    [
        ("rubbos", "", "see the messages between servers"),
        ("static", "[system.neighbours]\ncount = 1\n", "put neighbours beside servers"),
    ],
)
def test_what_does_not_go_there_is_refused_in_one_sentence(
    workload: str, more: str, cannot: str, tierlab: Start, tmp_path: Path
) -> None:
    (tmp_path / "t.toml").write_text(EXPERIMENT.format(workload=workload) + more)
    ended = tierlab("run", tmp_path / "t.toml").end()
    assert f"the vsphere environment cannot {cannot}" in ended.sentence
