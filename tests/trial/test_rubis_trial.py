"""RUBiS on nginx, PHP-FPM and PostgreSQL as a trial: what the tracer saw is what the servers' own
books say, and each statement is its request's."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.figures import figure
from tests.trial.left import check_nothing_left
from tests.trial.linked import check_links
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
workload = "rubis"
scale = 0.001
[system.web]
count = {webs}
[system.db]
count = {databases}
[load]
users = 120
think = "600ms"
phases = {{ ramp_up = "1s", runtime = "{seconds}s", ramp_down = "0s" }}
{more}
"""
"""So few that a slow machine keeps up: what is under way in the end is cut, and in fewer books."""
LOCK = """
[[disturb]]
class = "lock"
at = "4500ms"
duration = "600ms"
"""
PROFILE = """
[system.app]
jit = true
[observe.profile]
rate = 4000
"""
CHAIN = ["web", "app", "db"]


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


def run_trial(
    tierlab: Start,
    folder: Path,
    *options: str,
    webs: int = 1,
    databases: int = 1,
    seconds: int = 3,
    more: str = "",
) -> Run:
    path = folder / "t.toml"
    path.write_text(EXPERIMENT.format(webs=webs, databases=databases, seconds=seconds, more=more))
    before = host()
    command = tierlab("run", path, *options)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, folder, before)
    run = api.open(folder / "runs" / "t" / "001")
    assert run.manifest.exit.state == "done"
    assert (run.path / "report.html").exists()
    return run


def test_each_request_is_in_every_servers_own_books(tierlab: Start, tmp_path: Path) -> None:
    """Nor is anything else in them: a lock that is injected is found, and left no statement."""
    run = run_trial(tierlab, tmp_path, seconds=6, more=LOCK)
    # Beside it others' work may be found.
    assert ("lock", "db.1") in {(each.cause, each.subject) for each in run.findings}
    assert run.manifest.topology.tiers == CHAIN
    with run.connect() as db:
        visits = dict(
            db.execute(
                "SELECT server, count(*) FROM visits WHERE label != 'LOGIN' GROUP BY 1"
            ).fetchall()
        )
    logs = run.path / "logs"
    statements = sum(
        int(line.partition("\t")[0]) for line in lines(logs / "db.1/logs/statements.tsv")
    )
    books = {
        "web.1": len(lines(logs / "web.1/logs/access.log")),
        "app.1": len(lines(logs / "app.1/logs/access.log")),
        "db.1": statements,
    }
    figure(f"visits {visits}, the servers' own books {books}")
    assert visits["app.1"] > 100
    for server, counted in books.items():
        assert abs(visits[server] - counted) <= 1e-4 * counted, (server, visits, books)
    check_links(run)


def test_each_message_behind_pgpool_is_its_requests(tierlab: Start, tmp_path: Path) -> None:
    """It prepares, binds and synchronises each statement in messages of their own, without ids.
    In front are two web servers, between which the users are shared out.
    """
    run = run_trial(tierlab, tmp_path, webs=2, databases=2, more=PROFILE)
    check_links(run)
    check_functions_of_php_have_names(run)
    check_each_user_keeps_its_server(run, ["web.1", "web.2"])
    with run.connect() as db:
        outside = db.execute(
            """SELECT count(*) FROM visits c JOIN visits p ON c.parent = p.visit
            WHERE c.arrival_ns < p.arrival_ns - 50000 OR c.departure_ns > p.departure_ns + 50000"""
        ).fetchone()
    assert outside == (0,)


def check_functions_of_php_have_names(run: Run) -> None:
    """Those of the application, which it has compiled."""
    with run.connect() as db:
        (known, samples, rubis), *_ = db.execute(
            """SELECT count(symbol), count(*), count(*) FILTER (starts_with(symbol, 'Tierlab'))
               FROM counters WHERE domain = 'app.1' AND dt_ns = 0 AND "binary" = '[JIT]'"""
        ).fetchall()
    figure(f"{known} of {samples} samples of compiled PHP have a name, {rubis} of RUBiS")
    assert known >= 0.9 * samples > 10
    assert rubis > 0


def check_each_user_keeps_its_server(run: Run, webs: list[str]) -> None:
    assert run.manifest.topology.entries == webs
    logs = [(run.path / f"logs/{web}/logs/access.log").read_text() for web in webs]
    asked = [set(re.findall(r"\b[0-9a-f]{16}\b", log)) for log in logs]
    pages = run.requests.execute()
    pages = pages[pages.error.isna()]
    assert len(pages) > 100
    for user, ids in pages.groupby("user").request_id:
        assert set(ids.dropna()) <= asked[user % len(webs)], user


@pytest.mark.parametrize("environment", ["podman", "lxc"])
def test_in_containers(environment: str, tierlab: Start, tmp_path: Path) -> None:
    if (reason := obstacle(environment)) is not None:
        pytest.skip(reason)
    run = run_trial(tierlab, tmp_path, "--environment", environment)
    assert run.manifest.environment == environment
    check_links(run)
