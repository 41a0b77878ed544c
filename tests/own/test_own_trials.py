"""A user's own application checked, driven, seen and let alone, as a user does it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.grouped import a_group, hold_back, put
from tests.own.conftest import FOLDER, PYTHON, SHOP
from tests.own.made_har import PORT, made_visit, running_shop
from tests.own.named import NAME
from tests.own.test_logged import line
from tests.trial.left import check_nothing_left

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

RECORDED = f"""
[experiment]
name = "t"
[system]
workload = "own"
web = {{ command = "{SHOP}", folder = "{FOLDER}", port = 8000 }}
[system.sessions]
har = ["home.har", "found.har", "visit.har"]
expect = {{ "/orders" = "Thank you, alice" }}
[load]
users = 10
"""
STANDING = f"""
[experiment]
name = "t"
[system]
workload = "own"
environment = "host"
web = {{ address = "127.0.0.1", port = {PORT}, ready = "/" }}
sessions = {{ start = "/", pages = ["/items/*"], avoid = ["basket"] }}
[load]
users = 5
think = "100ms"
phases = {{ ramp_up = "0s", runtime = "2s", ramp_down = "0s" }}
"""
STEPS = ("GET /", "POST /login", "GET /search", "GET /items/{id}", "POST /api/basket")


def shortened(visit: Path, file: Path, only: str) -> None:
    """Of a recorded visit that which asks for `only`."""
    entries = json.loads(visit.read_text())["log"]["entries"]
    asked = [each for each in entries if each["request"]["url"].partition("?")[0].endswith(only)]
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": asked[:1]}}))


def test_every_recorded_visit_is_checked_with_tokens_and_ids_of_its_own(
    tierlab: Start, tmp_path: Path
) -> None:
    visit = tmp_path / "visit.har"
    made_visit(visit)
    shortened(visit, tmp_path / "home.har", "/")
    shortened(visit, tmp_path / "found.har", "/search")
    (tmp_path / "e.toml").write_text(RECORDED)
    before = host()
    command = tierlab("check", "e.toml", "--seconds", "1")
    ended = command.end()
    assert ended.status == 0, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    # On a busy machine a note says of which calls nothing was seen.
    assert all(line.startswith(("works  ", "note   Of calls")) for line in lines), lines
    for name in (*STEPS, "GET /basket", "POST /orders"):
        assert any(line.startswith(f"works  {name}: ") for line in lines), (name, lines)
    assert not (tmp_path / "runs").exists()
    check_nothing_left(command, tmp_path, before)


def test_a_server_that_runs_already_is_seen_and_let_alone(
    tierlab: Start, tmp_path: Path, trial: str
) -> None:
    (tmp_path / "e.toml").write_text(STANDING)
    with a_group(trial, tmp_path / "ledger") as group, running_shop() as shop:
        put([shop.pid], group)
        hold_back(group, 0.05)
        ended = tierlab("run", "e.toml").end()
        assert ended.status == 0, ended.stderr
        assert shop.poll() is None, "what Tierlab did not start it does not stop"
    run = api.open(tmp_path / "runs" / "t" / "001")
    interactions = set(run.requests.interaction.execute())
    assert {"/", "/items/*"} <= interactions
    assert not run.requests.error.execute().dropna().ne("cut").any()
    labels = set(run.visits.label.execute())
    assert {"GET /", "GET /items/{id}"} <= labels
    assert "GET /basket" not in labels
    assert set(run.process.subject.execute()) == {"web.1"}
    assert run.domain.throttled_ns.sum().execute() > 0, "its own control group is looked at"


def test_what_holds_a_container_s_port_is_not_measured_as_the_server(
    tierlab: Start, tmp_path: Path
) -> None:
    (tmp_path / "e.toml").write_text(STANDING)
    with running_shop(name="docker-proxy"):
        ended = tierlab("run", "e.toml").end()
    assert ended.status == 0, ended.stderr
    run = api.open(tmp_path / "runs" / "t" / "001")
    assert run.manifest.not_measured["process of web.1"] == (
        "its port is held by docker-proxy; its own processes are in a container"
    )
    assert not run.has("process") or "web.1" not in set(run.process.subject.execute())
    assert {"GET /", "GET /items/{id}"} <= set(run.visits.label.execute())


AGAIN = f"""
[experiment]
name = "t"
[system]
workload = "own"
web = {{ command = "{SHOP}", folder = "{FOLDER}", port = 8000 }}
sessions = {{ log = "access.log" }}
[load]
speed = 4
phases = {{ ramp_up = "0s", runtime = "2s", ramp_down = "0s" }}
"""


@pytest.mark.environments
def test_a_log_is_sent_again_in_time(tierlab: Start, tmp_path: Path) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    targets = [("/", "/search?q=thing", "/style.css")[n % 3] for n in range(24)]
    rows = [line(start + timedelta(seconds=n // 4), n % 2, at) for n, at in enumerate(targets)]
    (tmp_path / "access.log").write_text("\n".join(rows) + "\n")
    (tmp_path / "e.toml").write_text(AGAIN)
    ended = tierlab("run", "e.toml").end()
    assert ended.status == 0, ended.stderr
    assert "a log at 4 times its speed" in ended.stdout
    run = api.open(tmp_path / "runs" / "t" / "001")
    requests = run.requests.execute().sort_values("intended_ns")
    assert requests.error.isna().all()
    assert list(requests.interaction) == [target.partition("?")[0] for target in targets]
    assert list(requests.user) == [n % 2 for n in range(24)]
    spaced = (requests.intended_ns - requests.intended_ns.iloc[0]) / 1e9
    assert spaced.to_numpy() == pytest.approx([n / 16 for n in range(24)], abs=1e-3)


NAMED = f"""
[experiment]
name = "t"
[system]
workload = "own"
sessions = {{ start = "/", pages = ["/x"] }}
[system.web]
command = "{PYTHON} named.py {{port}} {{address}}"
folder = "{FOLDER}"
port = 8000
ready = "/"
host = "{NAME}"
[load]
users = 1
"""


def test_a_site_is_called_by_its_name_and_its_links_by_that_name_are_followed(
    tierlab: Start, tmp_path: Path
) -> None:
    (tmp_path / "e.toml").write_text(NAMED)
    ended = tierlab("check", "e.toml", "--seconds", "1").end()
    assert ended.status == 0, ended.stdout + ended.stderr
    for page in ("/", "/x"):
        assert f"works  {page}: " in ended.stdout
