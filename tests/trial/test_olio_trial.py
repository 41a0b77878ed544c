"""Olio on nginx, PHP-FPM, memcached, a database and a geocoder as a trial: what the tracer saw is
what the servers' own books say, and what carries an id is its request's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.figures import figure
from tests.trial.left import check_nothing_left
from tierlab.tables.run import Run

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

EXPERIMENT = """
[experiment]
name = "t"
[system]
workload = "olio"
[load]
users = 20
cycle = "400ms"
phases = { ramp_up = "1s", runtime = "4s", ramp_down = "0s" }
"""
CHAIN = ["web", "app", "cache", "geocoder", "db"]
OPERATIONS = {"HomePage", "Login", "TagSearch", "EventDetail"}
"""Those that come in any short trial."""


def run_trial(tierlab: Start, folder: Path, *options: str) -> Run:
    path = folder / "t.toml"
    path.write_text(EXPERIMENT)
    before = host()
    command = tierlab("run", path, *options)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, folder, before)
    run = api.open(folder / "runs" / "t" / "001")
    assert run.manifest.exit.state == "done"
    assert (run.path / "report.html").exists()
    return run


def check_operations(run: Run) -> None:
    """They came, none failed, and the home page had its ten pictures."""
    with run.connect() as db:
        rows = db.execute(
            "SELECT interaction, count(*), count(error) FILTER (error != 'cut'),"
            " min(images_named), max(images_named) FROM requests GROUP BY 1"
        ).fetchall()
    figure(", ".join(f"{count} {name}" for name, count, *_ in rows))
    found = {name: rest for name, *rest in rows}
    assert set(found) >= OPERATIONS
    assert all(failed == 0 for _, failed, *_ in found.values())
    assert found["HomePage"][2:] == [10, 10]
    assert run.manifest.rules is not None
    assert set(run.manifest.rules.operations) > OPERATIONS


def check_links(run: Run) -> None:
    """Statements and the geocoder's requests carry ids, and the threads that sent them are known.
    Where system calls are not traced, what memcached was asked is the request's whose process
    asked, or nobody's: its protocol has no place for an id.
    """
    with run.connect() as db:
        rows = db.execute(
            """SELECT server, count(*), count(*) FILTER (link IN ('id', 'thread')), count(parent)
            FROM visits WHERE server NOT LIKE 'web.%' AND label NOT IN ('LOGIN', 'PING')
            AND arrival_ns >= (SELECT min(start_ns) FROM requests) GROUP BY 1"""
        ).fetchall()
        calls = db.execute(
            """SELECT DISTINCT split_part(c.server, '.', 1), split_part(p.server, '.', 1)
            FROM visits c JOIN visits p ON c.parent = p.visit"""
        ).fetchall()
    for server, visits, certain, linked in rows:
        figure(f"{server}: of {visits} visits {certain} linked by id or thread, {linked} in all")
        if server != "cache.1":
            assert certain >= 0.99 * visits, server
    wanted = {("app", "web"), ("db", "app"), ("geocoder", "app")}
    assert wanted - {("geocoder", "app")} <= set(calls) <= wanted | {("cache", "app")}


def books(run: Run) -> dict[str, int]:
    """What each server counted itself; of memcached, what it was asked for."""
    logs = run.path / "logs"
    counted = {
        name: len((logs / name / "logs/access.log").read_text().splitlines())
        for name in ("web.1", "app.1", "geocoder.1")
    }
    statements = (logs / "db.1/logs/statements.tsv").read_text().splitlines()
    counted["db.1"] = sum(int(line.partition("\t")[0]) for line in statements)
    told = (logs / "cache.1/logs/stats.tsv").read_text().splitlines()
    counted["cache.1"] = int(dict(line.split("\t") for line in told)["cmd_get"])
    return counted


def test_each_request_is_in_every_servers_own_books(tierlab: Start, tmp_path: Path) -> None:
    # It counts statements; MariaDB runs in podman, below.
    run = run_trial(tierlab, tmp_path, "--set", "system.db.server=postgresql")
    assert run.manifest.topology.tiers == CHAIN
    check_operations(run)
    check_links(run)
    with run.connect() as db:
        visits = dict(
            db.execute(
                "SELECT server, count(*) FROM visits WHERE label NOT IN ('LOGIN', 'stats')"
                " AND (server != 'cache.1' OR label = 'get') GROUP BY 1"
            ).fetchall()
        )
    counted = books(run)
    figure(f"visits {visits}, the servers' own books {counted}")
    assert visits["app.1"] > 100
    for server, count in counted.items():
        assert abs(visits[server] - count) <= 1e-4 * count, (server, visits, counted)


def test_in_podman(tierlab: Start, tmp_path: Path) -> None:
    if (reason := obstacle("podman")) is not None:
        pytest.skip(reason)
    run = run_trial(tierlab, tmp_path, "--environment", "podman")
    assert run.manifest.environment == "podman"
    check_operations(run)
    check_links(run)
