"""Domains with an address of their own: reached from many users' addresses, and each message seen
once on the bridge.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pyarrow.ipc
import pytest

from tests.environments.veth_guest import Veth, VethDomain
from tests.pace import pace, wait_until
from tierlab.environments.addresses import BRIDGED, LOOPBACK
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.observe.agent import binary
from tierlab.observe.clock_reading import PORT, read_clock

pytestmark = [
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

PYTHON = "/usr/bin/python3"
"""One that the servers' user may run."""
WEB, APP = (BRIDGED.server(tier, 1) for tier in (1, 2))
PAGES, LONG = 40, 300_000
SERVE = f"""
import http.server, socketserver
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = self.client_address[0].encode() if self.path == "/who" else bytes({LONG})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
# Not HTTPServer, which asks for its address's name.
socketserver.ThreadingTCPServer(("{WEB}", 8080), Handler).serve_forever()
"""
FETCH = f"""
import http.client
link = http.client.HTTPConnection("{WEB}", 8080)
for _ in range({PAGES}):
    link.request("GET", "/long")
    assert len(link.getresponse().read()) == {LONG}
"""


@pytest.fixture
def veth(trial: str, traces: object) -> Iterator[Veth]:  # noqa: ARG001
    environment = Veth(Ledger(trial))
    yield environment
    environment.destroy()


@pytest.fixture
def web(veth: Veth) -> VethDomain:
    """A web server with an address of its own."""
    domain = guest(veth, "web.1", WEB)
    domain.spawn([PYTHON, "-c", SERVE], log="web.log")
    wait_until(lambda: veth.listener(WEB, 8080) is not None, "the web server's start", 20)
    return domain


def guest(veth: Veth, name: str, address: str) -> VethDomain:
    domain = veth.create(DomainSpec(name, address=address))
    domain.start()
    return domain


def from_user(veth: Veth, user: str) -> http.client.HTTPConnection:
    def connect() -> socket.socket:
        return socket.create_connection((WEB, 8080), timeout=10, source_address=(user, 0))

    connection = http.client.HTTPConnection(WEB, 8080)
    namespace = veth._ground.namespace
    assert namespace is not None
    connection.sock = namespace.inside(connect)
    return connection


def test_every_server_has_an_address_of_its_own() -> None:
    assert LOOPBACK.server(4, 2) == "127.0.4.2"
    assert BRIDGED.server(4, 2) == "10.0.4.2"


def test_guests_are_reached_from_any_of_a_million_users_addresses(
    veth: Veth, web: VethDomain
) -> None:
    for user in (BRIDGED.users[1], BRIDGED.users[-2], BRIDGED.crowd[77]):
        with closing(from_user(veth, str(user))) as connection:
            connection.request("GET", "/who")
            assert connection.getresponse().read().decode() == str(user)
    assert web.run(["ip", "-4", "neigh"], timeout=20).stdout.count("lladdr") == 1


def test_a_port_is_free_until_its_guest_listens(veth: Veth, web: VethDomain) -> None:
    assert veth.listener(WEB, 8080) is not None
    assert veth.listener(WEB, 8081) is None
    assert veth.listener(APP, 8080) is None
    web.stop()
    assert veth.listener(WEB, 8080) is None


def test_a_guest_reaches_its_trial_and_not_the_host(web: VethDomain) -> None:
    connect = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)"

    def reaches(address: str, port: int) -> bool:
        tried = web.run([PYTHON, "-c", connect, address, str(port)], timeout=20)
        return tried.status == 0

    assert reaches(WEB, 8080)
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 2).close()
        for link in psutil.net_if_addrs().values():
            for address in link:
                if address.family == socket.AF_INET:
                    assert not reaches(address.address, port)


def repeated(domain: VethDomain) -> int:
    """Segments that a guest's kernel has sent again: on a busy machine it does."""
    read = domain.run(["cat", "/proc/net/snmp"], timeout=20).stdout
    names, values = (line.split() for line in read.splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("RetransSegs")])


def test_the_capture_sees_each_message_once_whoever_speaks_to_whom(
    veth: Veth, web: VethDomain, tmp_path: Path
) -> None:
    """Between two guests, and from a user to a guest; long replies come in segments of 64 KiB."""
    other = guest(veth, "app.1", APP)
    server = {"name": "web.1", "address": WEB, "port": 8080, "protocol": "http1"}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"interface": BRIDGED.interface, "servers": [server]}))
    argv = [binary(), "capture", "--plan", str(plan), "--out", str(tmp_path)]
    capture = veth.spawn(argv, log=tmp_path / "capture.log")
    assert capture.stdout is not None
    assert json.loads(capture.stdout.readline())["ready"]
    assert other.run([PYTHON, "-c", FETCH], timeout=60).status == 0
    with closing(from_user(veth, str(BRIDGED.users[5]))) as connection:
        for _ in range(PAGES):
            connection.request("GET", "/long")
            connection.getresponse().read()
    capture.stop(20, signal.SIGINT)
    with (tmp_path / "raw_visits.arrows").open("rb") as file:
        visits = pyarrow.ipc.open_stream(file).read_all().to_pylist()
    assert len(visits) == 2 * PAGES
    assert all(visit["departure_ns"] is not None for visit in visits)
    assert all(LONG < visit["bytes_out"] < LONG + 1000 for visit in visits)
    with (tmp_path / "capture.events.arrows").open("rb") as file:
        events = pyarrow.ipc.open_stream(file).read_all().to_pylist()
    assert not [event for event in events if event["kind"] == "gap"]
    details = [json.loads(it["detail"]) for it in events if it["kind"] == "retransmission"]
    assert sum(it["from"] == "server" for it in details) <= repeated(web)


def test_a_clock_is_read_through_the_network(veth: Veth, web: VethDomain) -> None:
    """The guest's is the host's here, so that the reading must be zero, give or take."""
    process = web.inside().spawn([binary(), "clock", "--listen", f"{WEB}:{PORT}"], log="clock.log")
    wait_until(lambda: veth.listener(WEB, PORT) is not None, "the clock's start", 20)
    with veth.connect(WEB, PORT, timeout=5) as link:
        reading = read_clock(link)
    process.stop(5, signal.SIGINT)
    assert abs(reading.offset_ns) <= reading.uncertainty_ns < 10_000_000 * pace()
