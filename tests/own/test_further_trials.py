"""A trial whose users ask a page's server and, on another port, its API."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.own.conftest import FOLDER, PYTHON
from tests.own.test_recorded_hosts import call, html, written
from tests.trial.left import check_nothing_left

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

SITE, API = "http://localhost:5173", "http://localhost:8000"
COMMAND = f"{PYTHON} two_origins.py {{port}} {{address}}"
EXPERIMENT = f"""
[experiment]
name = "t"
[system]
workload = "own"
web = {{ command = "{COMMAND} page", folder = "{FOLDER}", port = 5173 }}
api = {{ command = "{COMMAND} api", folder = "{FOLDER}", port = 8000 }}
sessions = {{ har = "v.har", think = "load", servers = {{ "localhost:8000" = "api" }} }}
[load]
users = 5
think = "100ms"
phases = {{ ramp_up = "0s", runtime = "2s", ramp_down = "0s" }}
"""
OF_API = {"GET /items at api", "PUT /items/{id} at api"}


def test_users_ask_the_page_s_server_and_its_api_on_another_port(
    tierlab: Start, tmp_path: Path
) -> None:
    listed = call(f"{API}/items", Origin=SITE)
    listed["response"]["content"]["text"] = '[{"id": 4711123}]'
    put = call(f"{API}/items/4711123", method="PUT", Origin=SITE)
    written(tmp_path, html(f"{SITE}/"), listed, put, html(f"{SITE}/about"))
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    before = host()
    command = tierlab("run", "e.toml")
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)
    run = api.open(tmp_path / "runs" / "t" / "001")
    requests = run.requests.execute()
    assert not requests.error.dropna().ne("cut").any()
    assert set(requests.interaction) == {"GET /", "GET /about", *OF_API}
    assert set(run.manifest.topology.entries) == {"web.1", "api.1"}
    visits = run.visits.execute()
    assert set(visits[visits.server == "web.1"].label) == {"GET /", "GET /about"}
    assert set(visits[visits.server == "api.1"].label) == {"GET /items", "PUT /items/{id}"}
    ended_well = requests[requests.error.isna()]
    counts = ended_well.interaction.isin(OF_API).sum()
    assert abs(counts - len(visits[visits.server == "api.1"])) <= 5
