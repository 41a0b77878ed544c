"""Visits at UNIX sockets, beside what the servers themselves wrote down of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.own.debian_site import HAS_PROGRAMS, SCRIPTS
from tests.own.test_unix_sockets import traced

LOGGING = Path(__file__).with_name("logging_site")
PROGRAMS = ("/usr/bin/redis-server", "/usr/lib/postgresql/15/bin/postgres")
EXPERIMENT = """
[experiment]
name = "t"
[system]
workload = "own"
sessions = {{ start = "/" }}
[system.web]
command = "sh web.sh {{address}} {{port}} {{app.socket}}"
folder = "{folder}"
port = 8000
ready = "/ready"
[system.app]
command = "sh app.sh {{socket}}"
folder = "{folder}"
socket = "app.sock"
protocol = "fcgi"
calls = ["maria", "postgres", "redis"]
logs = ["access.log"]
[system.app.environment]
DB_SOCKET = "{{maria.socket}}"
PG_SOCKET = "{{postgres.socket}}"
CACHE_SOCKET = "{{redis.socket}}"
[system.maria]
command = "sh maria.sh {{socket}}"
folder = "{folder}"
socket = "maria.sock"
protocol = "mysql"
calls = []
logs = ["general.log"]
[system.postgres]
command = "sh postgres.sh {{socket}}"
folder = "{folder}"
socket = ".s.PGSQL.5432"
protocol = "postgresql"
calls = []
logs = ["postgres.log"]
[system.redis]
command = "sh redis.sh {{socket}}"
folder = "{folder}"
socket = "redis.sock"
protocol = "redis"
calls = []
logs = ["appendonlydir/appendonly.aof.1.incr.aof"]
[load]
users = 6
think = "20ms"
phases = {{ ramp_up = "1s", runtime = "6s", ramp_down = "0s" }}
"""
LOGGED = {
    "app.1": ("access.log", "GET /more", "GET /more"),
    "maria.1": ("general.log", "Query\tSELECT", "SELECT"),
    "postgres.1": ("postgres.log", ": SELECT", "SELECT"),
    "redis.1": ("appendonly.aof.1.incr.aof", "INCR", "INCR"),
}
"""By server: its log, what a request's line there has, and the begin of its visits' labels."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(
        not HAS_PROGRAMS or not all(Path(each).exists() for each in PROGRAMS),
        reason="needs nginx, PHP-FPM, MariaDB, PostgreSQL and Redis",
    ),
]


@traced
def test_visits_at_sockets_are_what_the_servers_logged(tierlab: Start, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(LOGGING, folder)
    shutil.copy(SCRIPTS / "web.sh", folder)
    (tmp_path / "e.toml").write_text(EXPERIMENT.format(folder=folder))
    ended = tierlab("run", "e.toml").end(180)
    assert ended.status == 0, ended.stdout + ended.stderr
    run = api.open(tmp_path / "runs" / "t" / "001")
    visits = run.visits.execute()
    # By the thread of PHP that made them, also the one that it makes after its reply.
    calls = visits[visits.server.isin(["maria.1", "postgres.1", "redis.1"])]
    assert (calls.link == "thread").mean() >= 0.999
    for server, (log, line, label) in LOGGED.items():
        [file] = (tmp_path / "runs" / "t" / "001" / "logs").rglob(f"*{log}")
        logged = sum(line in each for each in file.read_text(errors="replace").splitlines())
        seen = int(((visits.server == server) & visits.label.str.startswith(label)).sum())
        print(f"{server}: {seen:,} visits, {logged:,} logged")
        assert logged > 200
        # What was under way at the end may be in one of the two alone.
        assert abs(seen - logged) <= max(1, 0.001 * logged)
