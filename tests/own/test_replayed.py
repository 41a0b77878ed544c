"""A log sent again in time: to a real web server, whose own log is held against it, and to one that
answers late.
"""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.drive.driving import Driven, Driver, target
from tests.own.test_logged import line
from tests.rubbos.private_mariadb import free_port
from tierlab.errors import UserError
from tierlab.exchange.access_log import read_access_log
from tierlab.experiment import Experiment
from tierlab.workloads.own.page_kinds import kind
from tierlab.workloads.own.pages import OTHER
from tierlab.workloads.own.replayed import MOST_KINDS, replayed

S = 1_000_000_000
START = datetime(2026, 1, 1, 23, 59, 58, tzinfo=UTC)
NGINX = """daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
  log_format timed '$msec $request_uri';
  access_log {folder}/access.log combined;
  access_log {folder}/timed.log timed;
  client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
  uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 "here"; }} }}
}}
"""


def write(file: Path, asked: list[tuple[float, int, str]]) -> Path:
    """A log of (second, client, target)."""
    rows = [line(START + timedelta(seconds=at), client, target) for at, client, target in asked]
    file.write_text("\n".join(rows) + "\n")
    return file


def test_visits_are_told_apart_and_keep_their_times(tmp_path: Path) -> None:
    asked = [(0, 1, "/"), (0, 2, "/a/7?x=1"), (0, 1, "/s.css"), (2, 1, "/a/8"), (2000, 1, "/")]
    file = write(tmp_path / "access.log", asked)
    with file.open("a") as log:
        log.write(line(START, 1, "/form", method="POST") + "\n")
        log.write(line(START, 1, "/gone", status=404) + "\n")
        log.write(line(START, 1, "/in?token=secret") + "\n")
    found = replayed(file, {"/a/{id}": "Seven"})
    assert found["visits"] == [
        [(0, "/", "/"), (2 * S // 3, "/s.css", "/s.css"), (2 * S, "/a/{id}", "/a/8")],
        [(S // 3, "/a/{id}", "/a/7?x=1")],
        [(2000 * S, "/", "/")],
    ]
    states = {state["name"]: state for state in found["states"]}
    assert states["/a/{id}"]["expect"] == {"text": "Seven"}


def test_a_pattern_that_no_page_of_the_log_matches_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "access.log", [(0, 1, "/"), (1, 1, "/a/7")])
    with pytest.raises(UserError, match='has no page that is "/b", as expect has it'):
        replayed(file, {"/": "Welcome", "/b": "B"})


def test_the_seldom_kinds_of_page_are_one(tmp_path: Path) -> None:
    kinds = [f"/{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MOST_KINDS + 5)]
    asked = [(n, 1, kind) for n, kind in enumerate(kinds)] + [(500, 1, kinds[-1])]
    found = replayed(write(tmp_path / "access.log", asked), {})
    names = [state["name"] for state in found["states"]]
    assert len(names) == MOST_KINDS + 1
    assert {kinds[-1], OTHER} <= set(names)
    (visit,) = found["visits"]
    assert [target for _, _, target in visit] == [*kinds, kinds[-1]]


def test_a_log_of_nothing_that_can_be_asked_for_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "access.log"
    file.write_text(line(START, 1, "/form", method="POST") + "\n")
    with pytest.raises(UserError, match="has no page"):
        replayed(file, {})


@pytest.mark.parametrize(
    ("load", "said"),
    [
        ({"speed": 2, "users": 3}, "load.users goes without speed, which is a log's own load"),
        ({"speed": 2, "shape": {"kind": "day"}}, "load.shape goes without speed"),
        ({"speed": 2, "think": "1s"}, "load.think goes without speed"),
        ({"speed": 2}, "load.speed replays the access log of system.sessions, which"),
    ],
)
def test_what_does_not_go_with_a_replay_is_named(load: dict[str, Any], said: str) -> None:
    tables = {"experiment": {"name": "e"}, "system": {"workload": "rubbos"}, "load": load}
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(tables, "my.toml")
    assert said in str(raised.value)


def test_a_plan_of_a_replay_is_written_as_it_was_asked_for(tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", [(0, 1, "/"), (3, 1, "/a")])
    web = {"command": "/bin/true {port}", "port": 8000}
    system = {"workload": "own", "web": web, "sessions": {"log": str(log)}}
    tables = {"experiment": {"name": "e"}, "system": system, "load": {"speed": 2.5}}
    (plan,) = Experiment.from_tables(tables, "my.toml").trials()
    written = plan.as_file()
    assert written["load"]["speed"] == 2.5
    assert not {"users", "rate", "arrivals", "think", "cycle"} & written["load"].keys()
    (again,) = Experiment.from_tables(written, "again.toml").trials()
    (visit,) = again.system.application.replayed()["visits"]
    assert [at for at, _, _ in visit] == [0, 3 * S]


def sent(folder: Path, port: int, log: Path, speed: float, **keys: Any) -> Driven:
    described = replayed(log, {})
    return Driver(folder)(
        port,
        described,
        users=len(described["visits"]),
        loop={"mode": "recorded", "speed": speed},
        images=False,
        **keys,
    )


@contextmanager
def nginx(folder: Path) -> Iterator[int]:
    folder.mkdir()
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
    command = ["/usr/sbin/nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            while True:
                with (
                    suppress(ConnectionRefusedError),
                    socket.create_connection(("127.0.0.1", port)),
                ):
                    break
                assert server.poll() is None, (folder / "error.log").read_text()
                time.sleep(0.01)
            yield port
        finally:
            server.terminate()


USUALLY_S, AT_MOST_S = 0.02, 0.3
"""How far a request is logged from when it should be, on a busy machine."""


@pytest.mark.slow
def test_a_real_servers_own_log_is_the_one_that_was_given_and_that_is_again(
    tmp_path: Path,
) -> None:
    asked = [(n // 5, n * n % 4, f"/page/{n}?n={n}") for n in range(40)]
    given = write(tmp_path / "given.log", asked)
    for number, (log, speed) in enumerate(((given, 16.0), (tmp_path / "0" / "access.log", 4.0))):
        with nginx(tmp_path / str(number)) as port:
            driven = sent(tmp_path / f"drive{number}", port, log, speed, seconds=0.6)
        wanted = [each.target for each in read_access_log(log)]
        rows = (tmp_path / str(number) / "timed.log").read_text().splitlines()
        times, targets = zip(*(row.split(" ") for row in rows), strict=True)
        assert list(targets) == wanted
        described = replayed(log, {})
        planned = sorted(at for visit in described["visits"] for at, _, _ in visit)
        due = np.array(planned) / speed / S
        intended = np.sort(driven.requests.intended_ns.to_numpy()) / S
        assert intended - intended[0] == pytest.approx(due, abs=1e-3)
        logged = np.array(times, float) - due
        late = logged - np.median(logged)
        assert np.median(np.abs(late)) < USUALLY_S
        assert np.abs(late).max() < AT_MOST_S, late
        assert driven.requests.error.isna().all()
        assert driven.requests.user.nunique() == len(described["visits"])


class _Late(BaseHTTPRequestHandler):
    """Takes 200 ms, and gives who has none a cookie."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[float, str, str | None]]

    def do_GET(self) -> None:
        self.seen.append((time.monotonic(), self.path, self.headers["Cookie"]))
        time.sleep(0.2)
        self.send_response(200)
        if self.headers["Cookie"] is None:
            self.send_header("Set-Cookie", f"of={self.path[1]}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def late(kind: type[_Late], count: int = 1, **attributes: Any) -> Iterator[list[int]]:
    """The ports of so many servers of such a kind."""
    with ExitStack() as stack:
        ports = []
        for number in range(count):
            handler = type("Late", (kind,), attributes | {"number": number})
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), handler))
            stack.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            ports.append(server.server_address[1])
        yield ports


class _Asked(_Late):
    """Notes by visit which server was asked, and from where."""

    number: int
    asked: dict[str, set[tuple[int, str]]]

    def do_GET(self) -> None:
        self.asked.setdefault(self.path[1], set()).add((self.number, self.client_address[0]))
        super().do_GET()


def test_what_overlaps_in_a_visit_goes_where_the_visit_does(tmp_path: Path) -> None:
    """It went to others of several servers, and came from other addresses."""
    log = write(tmp_path / "access.log", [(0, n % 3, f"/{'abc'[n % 3]}/{n}") for n in range(12)])
    asked: dict[str, set[tuple[int, str]]] = {}
    with late(_Asked, 2, asked=asked, seen=[]) as ports:
        targets, sources = [target(port) for port in ports], ["127.128.0.0/12"]
        sent(tmp_path / "drive", 0, log, 8.0, seconds=0.5, targets=targets, sources=sources)
    assert [len(asked[visit]) for visit in "abc"] == [1, 1, 1]
    assert len(set.union(*asked.values())) == 3
    assert {number for each in asked.values() for number, _ in each} == {0, 1}


class _Closed(_Late):
    """Notes when its connections were closed."""

    closed: list[float]

    def finish(self) -> None:
        super().finish()
        self.closed.append(time.monotonic())


def test_a_visit_that_is_over_keeps_no_connection(tmp_path: Path) -> None:
    """Those that it had opened besides, while it asked for several things at once, stayed."""
    asked = [(0, 1, "/a"), (0, 1, "/b"), (0, 1, "/c"), (4, 1, "/x")]
    log = write(tmp_path / "access.log", asked)
    seen: list[tuple[float, str, str | None]] = []
    closed: list[float] = []
    with late(_Closed, closed=closed, seen=seen) as (port,):
        sent(tmp_path / "drive", port, log, 8.0, seconds=1.9, connection="keep_alive")
        given_up = time.monotonic() + 10
        while len(closed) < 3 and time.monotonic() < given_up:
            time.sleep(0.01)
    assert len(closed) == 3
    assert max(closed) - seen[-1][0] < 0.2 + 0.6, "the driver ends a second later"


@pytest.mark.slow
@pytest.mark.parametrize("connection", ["per_request", "keep_alive"])
def test_requests_do_not_wait_for_each_other_and_share_their_visits_cookies(
    connection: str, tmp_path: Path
) -> None:
    """Two visits, each with six requests a quarter of a second, then one more."""
    asked = [(0, n % 2, f"/{'ab'[n % 2]}/{'abcdefghijkl'[n]}") for n in range(12)]
    asked += [(2, 0, "/a/x"), (2, 1, "/b/x")]
    seen: list[tuple[float, str, str | None]] = []
    handler = type("Late", (_Late,), {"seen": seen})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        log = write(tmp_path / "access.log", asked)
        port = server.server_address[1]
        driven = sent(tmp_path / "drive", port, log, 4.0, seconds=0.6, connection=connection)
        server.shutdown()
    requests = driven.requests.sort_values("intended_ns")
    assert list(requests.interaction) == [kind(target) for _, _, target in asked]
    assert (requests.start_ns - requests.intended_ns).max() < AT_MOST_S * S
    took = requests.end_ns - requests.start_ns
    assert took.min() >= 0.2 * S, "longer than from one to the next"
    assert requests.user.nunique() == requests.session.nunique() == 2
    assert driven.summary["requests"] == 14
    cookies = {path: cookie for _, path, cookie in seen}
    assert (cookies["/a/a"], cookies["/b/b"]) == (None, None)
    assert (cookies["/a/x"], cookies["/b/x"]) == ("of=a", "of=b")
