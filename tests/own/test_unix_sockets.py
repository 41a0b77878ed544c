"""nginx calls PHP-FPM at a UNIX socket, and PHP calls MariaDB at another: whole trials of it."""

from __future__ import annotations

import os
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.own.debian_site import HAS_PROGRAMS, NEEDS, SCRIPTS, Site, running
from tests.trial.left import check_nothing_left
from tierlab.errors import UserError
from tierlab.experiment import Observe
from tierlab.observe.agent import binary

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not HAS_PROGRAMS, reason=NEEDS),
]

LOAD = """
[load]
users = 4
think = "50ms"
phases = { ramp_up = "1s", runtime = "4s", ramp_down = "0s" }
"""
STARTED = f"""
[experiment]
name = "t"
[system]
workload = "own"
sessions = {{ start = "/" }}
[system.web]
command = "sh web.sh {{address}} {{port}} {{app.socket}}"
folder = "{SCRIPTS}"
port = 8000
ready = "/"
[system.app]
command = "sh app.sh {{socket}}"
folder = "{SCRIPTS}"
socket = "app.sock"
protocol = "fcgi"
[system.app.environment]
DB_SOCKET = "{{db.socket}}"
DB_USER = "{{db.user}}"
DB_PASSWORD = "{{db.password}}"
DB_NAME = "{{db.database}}"
[system.db]
server = "mariadb"
{LOAD}"""
HALF = """
[experiment]
name = "t"
[system]
workload = "own"
environment = "host"
sessions = {{ start = "/" }}
web = {{ address = "127.0.0.1", port = {port}, ready = "/" }}
""" + LOAD.replace("{", "{{").replace("}", "}}")
WHOLE = """
[experiment]
name = "t"
[system]
workload = "own"
environment = "host"
sessions = {{ start = "/" }}
web = {{ address = "127.0.0.1", port = {port}, ready = "/", calls = ["app"] }}
app = {{ socket = "{php}", protocol = "fcgi", calls = ["db"] }}
db = {{ socket = "{mysql}" }}
""" + LOAD.replace("{", "{{").replace("}", "}}")
SLEEP_NS = 20_000_000
"""For which each page waits in the database."""


def traces_system_calls() -> bool:
    if "system_calls" not in Observe.model_fields:
        return False
    try:
        command = [binary(), "trace", "--help"]
    except UserError:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


traced = pytest.mark.skipif(not traces_system_calls(), reason="needs what traces system calls")


def described(text: str, site: Site) -> str:
    return text.format(port=site.port, php=site.php, mysql=site.mysql)


def test_servers_at_sockets_come_up_call_each_other_and_leave_nothing(
    tierlab: Start, tmp_path: Path
) -> None:
    """Whether what they say is seen or not."""
    (tmp_path / "e.toml").write_text(STARTED)
    before = host()
    command = tierlab("check", "e.toml", "--seconds", "2")
    ended = command.end()
    assert ended.status == 0, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    app = next(line for line in lines if "app.1 (command) is up at " in line)
    assert "/app.1/files/app.sock" in app
    assert any(line.startswith("works  web.1 -> app.1 fcgi: declared and seen") for line in lines)
    assert any(line.startswith("works  app.1 -> db.1 mysql: declared and seen") for line in lines)
    assert any(line.startswith("works  another page: ") for line in lines)
    check_nothing_left(command, tmp_path, before)


def test_a_report_says_whom_a_web_server_also_talks_to(
    tierlab: Start, tmp_path: Path, short: Path
) -> None:
    """The file has nginx alone: it had all of the time, and nothing was said of who is behind."""
    with running(short) as site:
        (tmp_path / "e.toml").write_text(described(HALF, site))
        ended = tierlab("run", "e.toml").end()
    assert ended.status == 0, ended.stderr
    run = api.open(tmp_path / "runs" / "t" / "001")
    sentence = f"web.1 also talks to php-fpm8.2 over {site.php}: not seen"
    reason = run.manifest.not_measured[f"calls of web.1 at {site.php}"]
    assert reason.startswith(f"{sentence}; ")
    assert sentence in (tmp_path / "runs" / "t" / "001" / "report.html").read_text()
    assert f"calls of web.1 at {site.php}" in ended.stdout


@traced
@pytest.mark.parametrize("text", [STARTED, WHOLE], ids=["started", "running"])
def test_what_servers_say_at_sockets_is_visits_as_tcp_s_are(
    tierlab: Start, tmp_path: Path, short: Path, text: str
) -> None:
    with running(short) if text is WHOLE else nullcontext() as site:
        (tmp_path / "e.toml").write_text(text if site is None else described(text, site))
        ended = tierlab("run", "e.toml").end()
    assert ended.status == 0, ended.stderr
    run = api.open(tmp_path / "runs" / "t" / "001")
    assert not run.manifest.unseen_at_sockets
    visits = run.visits.execute()
    whole = visits[visits.departure_ns.notna()]
    pages = whole[(whole.server == "web.1") & (whole.label == "GET /more")]
    calls = whole[(whole.server == "app.1") & (whole.protocol == "fastcgi")]
    statements = whole[(whole.server == "db.1") & whole.label.str.startswith("SELECT")]
    assert len(calls) >= len(pages) * 0.95
    assert len(statements) >= len(pages) * 0.95
    linked = calls.merge(pages, left_on="parent", right_on="visit", suffixes=("", "_of"))
    assert len(linked) >= len(pages) * 0.9, "each call of PHP has its page"
    took = statements.departure_ns - statements.arrival_ns
    assert took.median() >= SLEEP_NS * 0.95, "the wait is the database's"
