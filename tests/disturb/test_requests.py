"""Threads held by unfinished requests, and a surge of users, against an httpd in a domain."""

from __future__ import annotations

import http.client
import signal
import time

import pytest

from tests.disturb.conftest import LEAD, MS, SLOWER, Disturb, Domain, at, entry, pids
from tests.pace import wait_until
from tierlab.environments.network.netns import Namespace

ADDRESS, PORT = "127.0.1.1", 8080
THREADS = 16
CONFIG = f"""
ServerRoot {{folder}}
DefaultRuntimeDir {{folder}}
PidFile {{folder}}/httpd.pid
ServerName {ADDRESS}
Listen {ADDRESS}:{PORT}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
User nobody
Group nogroup
ServerLimit 1
StartServers 1
ThreadsPerChild {THREADS}
MaxRequestWorkers {THREADS}
DocumentRoot /usr/share/common-licenses
LogFormat "%{{begin:usec}}t %a %>s %U %{{X-Request-Id}}i" seen
CustomLog {{folder}}/access.log seen
ErrorLog {{folder}}/error.log
<Directory />
    Require all granted
</Directory>
"""


@pytest.fixture
def site(domain: Domain) -> Namespace:
    """An httpd with few threads."""
    domain.folder.chmod(0o755)
    (domain.folder / "httpd.conf").write_text(CONFIG.replace("{folder}", str(domain.folder)))
    domain.start("apache2", "-f", f"{domain.folder}/httpd.conf", "-DFOREGROUND")
    namespace = Namespace(domain.namespace)
    wait_until(lambda: fetch_ns(namespace, 1) is not None, "httpd's start")
    return namespace


def fetch_ns(namespace: Namespace, timeout: float) -> int | None:
    """How long a page takes; None if it does not come in time."""
    connection = http.client.HTTPConnection(ADDRESS, PORT, timeout=timeout)
    began = time.time_ns()

    def get() -> int | None:
        try:
            connection.request("GET", "/BSD")
            connection.getresponse().read()
        except OSError:
            return None
        finally:
            connection.close()
        return time.time_ns() - began

    return namespace.inside(get)


def test_held_threads_keep_the_next_client_waiting_until_the_end(
    domain: Domain, disturb: Disturb, site: Namespace
) -> None:
    where = {"address": ADDRESS, "port": PORT, "protocol": "http"}
    run = disturb(
        entry(domain, 1, "pool", LEAD, 800 * MS, resource="threads", hold=THREADS, **where)
    )
    assert fetch_ns(site, 5) is not None
    assert time.time_ns() < run.end_ns(), "nobody is kept waiting before it begins"
    at(run.start_ns())
    wait_until(lambda: fetch_ns(site, 0.1) is None, "the holding", 0.5)
    held = fetch_ns(site, 10)
    answered = time.time_ns()
    (truth,) = run.finish()
    assert held is not None
    assert run.end_ns() <= answered < truth["end_ns"] + 500 * MS * SLOWER
    assert fetch_ns(site, 5) is not None


@pytest.mark.alone
def test_slow_clients_keep_the_next_client_waiting_until_they_are_done(
    domain: Domain, disturb: Disturb, site: Namespace
) -> None:
    where = {"address": ADDRESS, "port": PORT, "sources": "127.160.0.0", "path": "/BSD"}
    run = disturb(
        entry(domain, 1, "slow_clients", LEAD, 800 * MS, clients=2 * THREADS, **where),
    )
    at(run.start_ns() + 200 * MS)
    began = time.time_ns()
    held = fetch_ns(site, 10)
    (truth,) = run.finish()
    assert held is not None
    assert -5 * MS < began + held - truth["end_ns"] < 500 * MS
    assert 0 <= truth["end_ns"] - truth["start_ns"] - 800 * MS < 100 * MS
    effect = {"clients": 2 * THREADS, "requests": 2 * THREADS, "unanswered": 0}
    assert truth["effect"] == effect
    after = fetch_ns(site, 5)
    assert after is not None
    assert after < 300 * MS
    # BufferedLogs is off: every request is in the log, whole.
    seen = (domain.folder / "access.log").read_text().splitlines()
    assert sum(" 127.16" in line and " 200 /BSD " in line for line in seen) == 2 * THREADS


def test_restarted_workers_are_others_and_answer_again(
    domain: Domain, disturb: Disturb, site: Namespace
) -> None:
    main = int((domain.folder / "httpd.pid").read_text())
    before = set(pids(domain.groups["cpu"])) - {main}
    keys = {"signal": signal.SIGHUP, "pids": [main]}
    run = disturb(entry(domain, 1, "restart", LEAD, 100 * MS, **keys))
    (truth,) = run.finish()
    now = set(pids(domain.groups["cpu"])) - {main}
    assert before
    assert now
    assert not now & before
    assert truth["effect"]["restarts"] >= 1
    assert fetch_ns(site, 5) is not None


@pytest.mark.usefixtures("site")
def test_a_surge_of_users_comes_and_goes_in_its_time(domain: Domain, disturb: Disturb) -> None:
    run = disturb(
        entry(
            domain,
            1,
            "burst",
            LEAD,
            300 * MS,
            users=100,
            paths=["/GPL-3", "/BSD"],
            address=ADDRESS,
            port=PORT,
        )
    )
    (truth,) = run.finish()
    log = domain.folder / "access.log"
    lines = [line.split() for line in log.read_text().splitlines()]
    users = [line for line in lines if line[1].startswith("127.160.")]
    assert truth["effect"]["unanswered"] == 0
    assert len(users) == truth["effect"]["requests"] >= 100
    assert len({line[1] for line in users}) == 100
    assert {line[3] for line in users} == {"/GPL-3", "/BSD"}
    assert len({line[4] for line in users}) == len(users)
    assert all(len(line[4]) == 16 for line in users)
    began = [int(line[0]) * 1000 for line in users]
    assert min(began) >= truth["start_ns"]
    # Those sent last may wait for a thread.
    assert max(began) < truth["effect"]["answered_by_ns"]
