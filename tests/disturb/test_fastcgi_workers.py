"""The workers of a PHP-FPM in a domain, held by requests that never go on."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

import pytest

from tests.disturb.conftest import LEAD, MS, SLOWER, Disturb, Domain, at, entry
from tests.pace import wait_until

ADDRESS, PORT, STATUS_PORT = "127.0.2.1", 9000, 9001
WORKERS = 4
CONFIG = f"""
[global]
error_log = {{folder}}/fpm.log
daemonize = no
[www]
listen = {ADDRESS}:{PORT}
user = root
group = root
pm = static
pm.max_children = {WORKERS}
pm.status_path = /status
pm.status_listen = {ADDRESS}:{STATUS_PORT}
access.log = {{folder}}/access.log
access.format = "%r"
"""


@pytest.fixture
def php(domain: Domain) -> Domain:
    """A PHP-FPM with few workers and a page."""
    (domain.folder / "fpm.conf").write_text(CONFIG.replace("{folder}", str(domain.folder)))
    (domain.folder / "page.php").write_text("<?php echo 'a page';")
    domain.start("php-fpm8.2", "-n", "-F", "-R", "-y", f"{domain.folder}/fpm.conf")
    wait_until(lambda: "a page" in asked(domain, PORT, "page.php"), "PHP-FPM's start")
    # Who has answered counts itself busy for a moment longer.
    wait_until(lambda: workers(domain) == (0, WORKERS), "the last page's end")
    return domain


def asked(domain: Domain, port: int, script: str, **variables: str) -> str:
    """What it answers to FastCGI's own client."""
    told = {"SCRIPT_FILENAME": f"{domain.folder}/{script}", "SCRIPT_NAME": f"/{script}"}
    pairs = [f"{name}={value}" for name, value in (told | variables).items()]
    client = ["/usr/bin/cgi-fcgi", "-bind", "-connect", f"{ADDRESS}:{port}"]
    command = [*domain.inside, "env", "-i", "REQUEST_METHOD=GET", *pairs, *client]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout


def status(domain: Domain) -> dict[str, Any]:
    """Its own status page, which a process beside its workers answers."""
    page = asked(domain, STATUS_PORT, "status", QUERY_STRING="json")
    return dict(json.loads(page.partition("\n\n")[2]))


def workers(domain: Domain) -> tuple[int, int]:
    """How many are busy and idle."""
    told = status(domain)
    return told["active processes"], told["idle processes"]


def test_held_workers_do_nothing_and_keep_the_next_page_waiting_until_the_end(
    php: Domain, disturb: Disturb
) -> None:
    where = {"address": ADDRESS, "port": PORT, "protocol": "fcgi"}
    run = disturb(entry(php, 1, "pool", LEAD, 800 * MS, resource="threads", hold=WORKERS, **where))
    at(run.start_ns())
    wait_until(lambda: workers(php) == (WORKERS, 0), "the holding", 0.5)
    computed = php.number("cpuacct", "cpuacct.usage")
    page = asked(php, PORT, "page.php")
    answered = time.time_ns()
    computed = php.number("cpuacct", "cpuacct.usage") - computed
    (truth,) = run.finish()
    assert "a page" in page
    assert run.end_ns() <= answered < truth["end_ns"] + 300 * MS * SLOWER
    assert computed < 50 * MS, "of 500 ms on each of its workers"
    wait_until(lambda: workers(php) == (0, WORKERS), "the release")
    assert set((php.folder / "access.log").read_text().split()) == {"/page.php"}
