"""A capture on all interfaces of a host has each packet once for each interface that it passes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tracer_bed import table

from tierlab.observe.agent import binary

pytestmark = pytest.mark.privileged

CLIENT, SERVER = "10.77.0.1", "10.77.0.2"
PORT = 8080
REQUESTS = 20

ASK = f"""
import http.client
for number in range({REQUESTS}):
    connection = http.client.HTTPConnection("{SERVER}", {PORT}, timeout=5)
    connection.request("GET", f"/page{{number}}")
    connection.getresponse().read()
"""


@contextmanager
def _network() -> Iterator[int]:
    """A network namespace, by a process in it."""
    holder = subprocess.Popen(["unshare", "--net", "sleep", "120"])
    try:
        own = Path("/proc/self/ns/net").readlink()
        while Path(f"/proc/{holder.pid}/ns/net").readlink() == own:
            time.sleep(0.01)
        yield holder.pid
    finally:
        holder.kill()
        holder.wait()


def _within(network: int, *command: str) -> list[str]:
    return ["nsenter", "--target", str(network), "--net", *command]


def _wire(bridge: int, hosts: dict[str, int]) -> None:
    """Connect hosts to a bridge that stands in a namespace of its own."""
    ip = _within(bridge, "ip")
    commands = [
        [*ip, "link", "add", "bridge", "type", "bridge"],
        [*ip, "link", "set", "bridge", "up"],
    ]
    for number, (address, host) in enumerate(hosts.items()):
        port = f"port{number}"
        peer = ["peer", "name", "eth0", "netns", str(host)]
        inside = _within(host, "ip")
        commands += [
            [*ip, "link", "add", port, "type", "veth", *peer],
            [*ip, "link", "set", port, "master", "bridge", "up"],
            [*inside, "address", "add", f"{address}/24", "dev", "eth0"],
            [*inside, "link", "set", "eth0", "up"],
        ]
    for command in commands:
        subprocess.run(command, check=True, timeout=10)


@contextmanager
def _running(command: list[str], ready: str) -> Iterator[None]:
    """Run a program that says when it is ready."""
    process = subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if ready in line.decode():
                break
        yield
    finally:
        process.terminate()
        process.communicate(timeout=10)


def _capture(folder: Path) -> Path:
    """Capture requests on all interfaces between a client and a server."""
    capture = folder / "any.pcap"
    with ExitStack() as stack:
        client, bridge, server = (stack.enter_context(_network()) for _ in range(3))
        _wire(bridge, {CLIENT: client, SERVER: server})
        (folder / "site").mkdir()
        serve = [sys.executable, "-u", "-m", "http.server", "--bind", SERVER, str(PORT)]
        site = ["--directory", str(folder / "site")]
        dump = ["tcpdump", "-i", "any", "-U", "-s", "2000", "-w", str(capture), "tcp"]
        stack.enter_context(_running(_within(server, *serve, *site), "Serving"))
        stack.enter_context(_running(_within(bridge, *dump), "listening on any"))
        ask = _within(client, sys.executable, "-c", ASK)
        subprocess.run(ask, check=True, timeout=30)
        time.sleep(1.5)  # a block of the ring is handed over after a second
    return capture


def test_a_capture_on_all_interfaces_of_a_bridge_has_each_packet_once(tmp_path: Path) -> None:
    capture = _capture(tmp_path)
    again = ["-Y", "tcp.analysis.retransmission && tcp.len > 0"]
    shark = subprocess.run(
        ["tshark", "-r", str(capture), *again], capture_output=True, text=True, check=True
    )
    # Wireshark takes the copies for segments that were sent again.
    copies = len(shark.stdout.splitlines())
    assert copies >= REQUESTS
    server = {"name": "web.1", "address": SERVER, "port": PORT, "protocol": "http1"}
    plan = {"file": str(capture), "servers": [server], "messages": True, "threads": 2}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    command = [binary(), "dissect", "--plan", str(tmp_path / "plan.json"), "--out", str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    last = json.loads(said.stdout.splitlines()[-1])
    visits = table(tmp_path / "raw_visits.arrows").to_pylist()
    whole = [it for it in visits if it["departure_ns"] is not None]
    assert len(whole) == len(visits) == REQUESTS
    events = table(tmp_path / "dissect.events.arrows").to_pylist()
    assert [it for it in events if "retransmission" in it["kind"]] == []
    assert last["left_out"]["copies"] >= copies
    assert last["left_out"]["unread"] == {}
