"""Connections of a cache that are held by clients who say nothing, against memcached and Redis."""

from __future__ import annotations

import subprocess
from contextlib import closing

import pytest

from tests.disturb.conftest import LEAD, MS, Disturb, Domain, at, entry
from tests.pace import wait_until
from tierlab.environments.network.netns import Namespace

ADDRESS, PORT = "127.0.1.1", 7000
MOST = 40
QUESTIONS = {"redis": (b"PING\r\n", b"+PONG"), "memcached": (b"version\r\n", b"VERSION")}


def start(domain: Domain, software: str) -> dict[str, object]:
    """Start it; how the agent gets to it."""
    if software == "redis":
        argv = ["redis-server", "--bind", ADDRESS, "--port", str(PORT), "--save", ""]
        argv += ["--unixsocket", f"{domain.folder}/s", "--maxclients", str(MOST)]
        domain.start(*argv, stdout=subprocess.DEVNULL)
        return {"protocol": software, "socket": f"{domain.folder}/s"}
    where = ["-l", f"{ADDRESS}:{PORT}", "-c", str(MOST), "-u", "root"]
    domain.start("memcached", *where)
    return {"protocol": software, "address": ADDRESS, "port": PORT}


@pytest.mark.parametrize("software", QUESTIONS)
def test_held_connections_turn_the_next_client_away_until_the_end(
    software: str, domain: Domain, disturb: Disturb
) -> None:
    where = start(domain, software)
    namespace = Namespace(domain.namespace)
    question, answer = QUESTIONS[software]

    def is_open() -> bool:
        try:
            with closing(namespace.socket()) as link:
                link.settimeout(1)
                link.connect((ADDRESS, PORT))
                link.sendall(question)
                return link.recv(100).startswith(answer)
        except OSError:
            return False

    wait_until(is_open, f"{software}'s start", 5)
    held = {"resource": "max_connections", "hold": MOST + 5}
    run = disturb(entry(domain, 1, "pool", LEAD, 800 * MS, **held, **where))
    assert is_open(), "nobody is turned away before it begins"
    at(run.start_ns())
    wait_until(lambda: not is_open(), "the refusal", 1)
    (truth,) = run.finish()
    wait_until(is_open, "the connections' release", 5)
    assert truth["effect"] == {"connections": MOST + 5}
