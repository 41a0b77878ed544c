"""Slow clients are told from a held pool, a surge, and a slow or lossy way."""

from __future__ import annotations

import pytest

from tierlab.diagnosis.causes import burst, slow_clients
from tierlab.servers.kinds import KINDS

from . import made_stall
from .made_stall import MS, STALL
from .signatures import diagnosed, idle, more_visits
from .test_echoes import context


def slow_requests(folder, count: int, sent_ns: int) -> None:
    """Let so many requests come to web.1 as it stalls, each sent for so long."""
    more_visits(
        folder,
        [
            {"server": "web.1", "label": "GET /image", "protocol": "http"}
            | {"arrival_ns": STALL[0] + n, "request_end_ns": STALL[0] + n + sent_ns}
            | {"departure_ns": STALL[0] + n + sent_ns + MS}
            for n in range(count)
        ],
    )


QUEUED = {"listen": [{"subject": "web.1", "accept_queue": 14}]}


@pytest.mark.parametrize(
    ("count", "sent_ns", "cause"),
    [
        (250, STALL[1] - STALL[0], "slow_clients"),
        (60, STALL[1] - STALL[0], "pool"),  # of 200 workers
        (250, 0, "burst"),
    ],
)
def test_slow_clients_are_told_from_a_held_pool_and_from_a_surge(tmp_path, count, sent_ns, cause):
    """Nobody accepts connections in any of them; many came at once in the first and the last."""
    samples = QUEUED | {"domain": idle("web.1", threads_stopped=0)}
    folder = made_stall.make(tmp_path, "web.1", samples)
    slow_requests(folder, count, sent_ns)
    found = diagnosed(folder)
    assert [(each.cause, each.subject) for each in found.findings] == [(cause, "web.1")]


@pytest.mark.parametrize(
    ("samples", "cause"),
    [
        ({"net": [{"subject": "lo", "queued_bytes": 40_000}]}, "network"),
        ({"tcp": [{"subject": "ns", "retransmissions": 30}]}, "loss"),
    ],
)
def test_some_slow_clients_beside_a_slow_or_lossy_way_are_not_blamed(tmp_path, samples, cause):
    folder = made_stall.make(tmp_path, "lb.1", samples | QUEUED)
    slow_requests(folder, 60, STALL[1] - STALL[0])
    found = diagnosed(folder)
    assert (cause, "db.1") in {(each.cause, each.subject) for each in found.findings}
    assert "slow_clients" not in {each.cause for each in found.findings}


def test_slow_clients_who_hold_nobody_up_are_no_finding(tmp_path):
    """A server that reads from all connections at once has none waiting."""
    folder = made_stall.make(tmp_path, None)
    slow_requests(folder, 250, STALL[1] - STALL[0])
    assert diagnosed(folder).findings == []


def test_slow_senders_hold_no_worker_where_a_limit_on_connections_is_apart_from_it(tmp_path):
    """As Tomcat's are, which reads a request's head without a thread."""
    samples = QUEUED | {"domain": idle("web.1", threads_stopped=0)}
    folder = made_stall.make(tmp_path, "web.1", samples)
    slow_requests(folder, 250, STALL[1] - STALL[0])
    manifest = made_stall.manifest()
    manifest.servers["web.1"].soft["max_connections"] = 8192
    manifest.write(folder)
    found = diagnosed(folder)
    assert [(each.cause, each.subject) for each in found.findings] == [("pool", "web.1")]


def test_slow_senders_hold_no_thread_that_is_no_worker(tmp_path):
    """As of who works on all requests in one thread, and has others for files."""
    samples = QUEUED | {"domain": idle("web.1", threads_stopped=0)}
    folder = made_stall.make(tmp_path, "web.1", samples)
    slow_requests(folder, 250, STALL[1] - STALL[0])
    manifest = made_stall.manifest()
    manifest.servers["web.1"].soft = {"threads": 4, "pool": 10}
    manifest.servers["web.1"].worker_threads = False
    manifest.write(folder)
    assert slow_clients.judge(context(folder, "web.1")) is None
    (finding,) = diagnosed(folder).findings
    assert finding.cause == "pool"
    assert "threads" not in " ".join(each.change for each in finding.remedies)


def test_servers_whose_threads_are_no_workers_say_so():
    threaded = {name: kind for name, kind in KINDS.items() if "threads" in kind.soft_resources}
    assert {name for name, kind in threaded.items() if not kind.worker_threads} == {
        "memcached",
        "nodejs",
        "redis",
    }


def test_slow_clients_that_are_gone_soon_held_the_workers_when_the_wait_began(tmp_path):
    """Those of 62 ms were told as the surge that they end in: 97 at once in a wait of 129 ms. Those
    of 160 ms were so where who is called is judged as well, as nobody is slow to ask a database.
    """
    folder = made_stall.make(tmp_path, "web.1", QUEUED | {"domain": idle("web.1")})
    slow_requests(folder, 500, 40 * MS)
    assert slow_clients.judge(context(folder, "web.1")).least > 0.7
    for server in ("web.1", "db.1"):
        assert burst.judge(context(folder, server)).most == 0.0
