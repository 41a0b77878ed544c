"""Connections: one each or kept, and enough addresses that none is waited for."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tierlab.workloads.rubbos.users import users

from .driving import POPULATION, SECOND, Driver, target
from .test_drive_failures import OK, Behaviour, serving


def connections(log: Path) -> list[int]:
    return [int(line.split("\t")[3]) for line in log.read_text().splitlines()]


def test_a_connection_for_each_request(site, drive: Driver, tmp_path: Path) -> None:
    log = tmp_path / "site.log"
    drive(site("--log", str(log), "--images"), users=10)
    used = connections(log)
    assert len(used) > 20
    assert len(set(used)) == len(used)


def test_a_connection_for_each_session(site, drive: Driver, tmp_path: Path) -> None:
    log = tmp_path / "site.log"
    driven = drive(site("--log", str(log), "--images"), users=10, connection="keep_alive")
    requests = driven.requests
    assert requests.error.dropna().empty
    assert len(set(connections(log))) == requests.session.nunique()
    # The first interaction of a session connects, the others need not.
    connected = requests.sort_values("start_ns").groupby("session").connected_ns
    assert connected.count().eq(1).all()


def test_users_take_turns_at_several_servers_and_each_keeps_its_own(
    site, drive: Driver, tmp_path: Path
) -> None:
    """Also where each thread drives every third user."""
    logs = [tmp_path / "0.log", tmp_path / "1.log"]
    targets = [target(site("--log", str(log))) for log in logs]
    requests = drive(0, users=10, seconds=0.4, threads=3, targets=targets).requests
    asked = [{line.split("\t")[4] for line in log.read_text().splitlines()} for log in logs]
    assert requests.error.dropna().empty
    for user, ids in requests.groupby("user").request_id:
        assert set(ids) <= asked[user % 2]
    assert set(requests.user) == set(range(10))


def answers_once_a_connection(heads: list[bytes]) -> Callable[[socket.socket], None]:
    """The first request of a connection is answered, the second one taken without a word."""

    def behave(connection: socket.socket) -> None:
        connection.sendall(OK + b"Content-Length: 2\r\n\r\nok")
        heads.append(connection.recv(65536))

    return behave


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_only_what_is_idempotent_is_sent_again(method: str, drive: Driver) -> None:
    workload = users("user", "corrected", POPULATION)
    home = next(state for state in workload["states"] if state["name"] == workload["home"])
    home["method"] = method
    home_again = [[workload["home"], 1.0]]
    for session in workload["sessions"]:
        session["transitions"] = {workload["home"]: home_again}
    heads: list[bytes] = []
    with serving(answers_once_a_connection(heads)) as port:
        requests = drive(port, workload, users=3, connection="keep_alive").requests
    unanswered = [head for head in heads if head]
    assert len(unanswered) > 10
    assert all(head.startswith(method.encode()) for head in unanswered)
    if method == "GET":
        assert requests.error.dropna().empty
        assert requests.attempts.max() == 2
    else:
        assert set(requests.attempts) == {1}
        assert set(requests.error.dropna()) == {"no_reply"}
        assert (requests.error == "no_reply").sum() == len(unanswered)


UPLOAD_BYTES = 16 << 20
"""More than a connection's two buffers take."""


def takes_forms(lengths: list[int]) -> Behaviour:
    """Answers a page, then takes a form on the same connection, slowly at first."""

    def behave(connection: socket.socket) -> None:
        connection.sendall(OK + b"Content-Length: 2\r\n\r\nok")
        head, _, body = connection.recv(65536).partition(b"\r\n\r\n")
        time.sleep(0.1)
        wanted = int(head.lower().partition(b"content-length: ")[2].split()[0])
        got = len(body)
        while got < wanted and (piece := connection.recv(1 << 20)):
            got += len(piece)
        lengths.append(got)
        connection.sendall(OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok")

    return behave


def test_a_form_that_does_not_fit_a_kept_connection_is_sent_when_there_is_room(
    drive: Driver,
) -> None:
    drive.folder.mkdir()
    (drive.folder / "photo.jpg").write_bytes(bytes(UPLOAD_BYTES))
    form = {
        "name": "form",
        "path": "/form",
        "method": "POST",
        "encoding": "multipart",
        "parameters": [{"name": "photo", "from": {"file": "photo.jpg"}}],
    }
    onward = {"page": [["form", 1.0]], "form": [["End", 1.0]]}
    identity = {"numbers": [1, 1], "values": {}}
    workload = {
        "name": "upload",
        "home": "page",
        "states": [{"name": "page", "path": "/"}, form],
        "sessions": [{"name": "all", "share": 1.0, "identity": identity, "transitions": onward}],
        "files": [{"name": "photo.jpg", "path": "photo.jpg", "type": "image/jpeg"}],
    }
    lengths: list[int] = []
    timeouts = {"connect_ns": SECOND, "request_ns": 5 * SECOND}
    keys = {"connection": "keep_alive", "timeouts": timeouts, "grace_ns": 6 * SECOND}
    with serving(takes_forms(lengths)) as port:
        requests = drive(port, workload, users=1, seconds=0.3, think_ms=1, **keys).requests
    forms = requests[requests.interaction == "form"]
    assert len(forms) > 0
    assert forms.error.isna().all()
    assert forms.connected_ns.isna().all(), "on the connection of the page before"
    assert min(lengths) > UPLOAD_BYTES


IN_A_NAMESPACE = """
import subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("40000 40063")
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


@pytest.mark.privileged
@pytest.mark.parametrize(("sources", "runs_out"), [(["127.128.0.0/12"], False), ([], True)])
def test_ports_in_time_wait_do_not_limit(sources, runs_out, tmp_path: Path) -> None:
    """64 ports for hundreds of connections: they suffice with many addresses, not with one."""
    isolated = ["unshare", "--net", sys.executable, "-c", IN_A_NAMESPACE]
    script = [sys.executable, "-m", "tests.drive.few_ports", str(tmp_path), *sources]
    project = Path(__file__).parents[2]
    subprocess.run([*isolated, *script], check=True, timeout=120, cwd=project)
    ended, no_address = map(int, (tmp_path / "counts").read_text().split())
    assert ended + no_address >= 200
    assert (no_address > 0) == runs_out
