"""Servers that misbehave: every failure has a name, none ends the driver."""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.pace import pace
from tierlab.workloads.rubbos.users import users

from .driving import MILLISECOND, POPULATION, SECOND, Driver

OK = b"HTTP/1.1 200 OK\r\n"
Behaviour = Callable[[socket.socket], None]


@contextlib.contextmanager
def serving(behave: Behaviour) -> Iterator[int]:
    """A server that reads the head of a request and then behaves."""

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=attend, args=(connection,), daemon=True).start()

    def attend(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            behave(connection)

    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def sends(*pieces: bytes) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return behave


def resets(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def stalls(connection: socket.socket) -> None:
    connection.sendall(OK)
    connection.settimeout(20)
    connection.recv(1)


def half_closes(connection: socket.socket) -> None:
    connection.sendall(OK + b"Content-Length: 5\r\n\r\nab")
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(20)
    connection.recv(1)


def drips(connection: socket.socket) -> None:
    for byte in OK + b"Content-Length: 2\r\n\r\nok":
        connection.sendall(bytes([byte]))


HUGE_HEAD = OK + b"X: " + b"a" * 100_000
BEHAVIOURS: dict[str, tuple[Behaviour, str | None, int | None]] = {
    "fine": (sends(OK + b"Content-Length: 2\r\n\r\nok"), None, 200),
    "fine byte by byte": (drips, None, 200),
    "fine without a length": (sends(OK + b"\r\n", b"page"), None, 200),
    "fine in chunks": (
        sends(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"2\r\nok\r\n", b"0\r\n\r\n"),
        None,
        200,
    ),
    "an error status": (sends(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), "status_503", 503),
    "a redirection": (sends(b"HTTP/1.1 302 F\r\nContent-Length: 0\r\n\r\n"), "status_302", 302),
    "no HTTP": (sends(b"220 mail.example.com ESMTP\r\n"), "malformed", None),
    "a bad length": (sends(OK + b"Content-Length: many\r\n\r\n"), "malformed", 200),
    "a bad chunk": (sends(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "malformed", 200),
    "a huge head": (sends(HUGE_HEAD), "too_large", None),
    "a huge length": (sends(OK + b"Content-Length: 999999999999\r\n\r\n"), "too_large", 200),
    "a cut head": (sends(OK), "truncated", None),
    "a cut body": (sends(OK + b"Content-Length: 9\r\n\r\nab"), "truncated", 200),
    "a cut chunk": (sends(OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\nab"), "truncated", 200),
    "half a connection": (half_closes, "truncated", 200),
    "nothing": (sends(), "no_reply", None),
    "a reset": (resets, "reset", None),
    "a stall": (stalls, "request_timeout", None),
}


@pytest.mark.parametrize("name", BEHAVIOURS)
@pytest.mark.parametrize("connection", ["per_request", "keep_alive"])
def test_misbehaviour_has_a_name(name: str, connection: str, drive: Driver) -> None:
    behave, error, status = BEHAVIOURS[name]
    patience = SECOND if error == "request_timeout" else 10 * SECOND
    timeouts = {"connect_ns": 10 * SECOND, "request_ns": patience}
    with serving(behave) as port:
        driven = drive(
            port,
            seconds=0.2,
            think_ms=50,
            users=3,
            timeouts=timeouts,
            connection=connection,
            grace_ns=10 * SECOND,
        )
    requests = driven.requests
    assert len(requests) >= 3
    assert set(requests.error.fillna("")) == {error or ""}
    statuses = set(requests.status.dropna())
    assert statuses == ({status} if status else set())
    # After a failure, the user starts again at home.
    assert not error or set(requests.interaction) == {"StoriesOfTheDay"}


def test_the_driver_ends_with_the_last_request_even_if_that_timed_out(drive: Driver) -> None:
    """It went on until the grace was over, though nothing was under way."""
    timeouts = {"connect_ns": SECOND, "request_ns": SECOND // 2}
    with serving(stalls) as port:
        driven = drive(port, seconds=0.2, users=3, timeouts=timeouts, grace_ns=60 * SECOND)
    assert set(driven.requests.error) == {"request_timeout"}
    assert driven.summary["wall_ns"] < 30 * SECOND


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_nobody_listens(drive: Driver) -> None:
    requests = drive(free_port(), seconds=0.3, users=3).requests
    assert set(requests.error) == {"refused"}
    assert requests.connected_ns.isna().all()


def test_a_full_backlog_is_a_connect_timeout(drive: Driver) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = [socket.create_connection(("127.0.0.1", port))]
        timeouts = {"connect_ns": 200 * MILLISECOND, "request_ns": None}
        requests = drive(port, seconds=0.5, users=3, timeouts=timeouts).requests
        for connection in waiting:
            connection.close()
    errors = set(requests.error)
    assert errors <= {"connect_timeout", "cut"}
    late = requests[requests.error == "connect_timeout"]
    assert len(late) >= 2
    took = (late.end_ns - late.start_ns) / MILLISECOND
    # Never early; on a busy machine some may be late.
    assert took.min() >= 199
    assert took.min() < 300 * pace()


def test_an_address_that_is_not_ours(drive: Driver, site) -> None:
    driven = drive(site(), seconds=0.3, users=3, sources=["203.0.113.0/24"])
    assert set(driven.requests.error) == {"no_address"}
    assert driven.summary["bottleneck"] is True


def test_the_published_client_opens_five_times(drive: Driver) -> None:
    workload = users("user", "published", POPULATION)
    workload["rules"]["reopen_after_ns"] = 50 * MILLISECOND
    with serving(sends(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")) as port:
        requests = drive(port, workload, seconds=1, users=2).requests
    ended = requests[requests.error == "status_500"]
    assert set(ended.attempts) == {5}
    assert ((ended.end_ns - ended.start_ns) / MILLISECOND).min() > 200


def test_a_page_that_says_error_fails(drive: Driver) -> None:
    with serving(sends(OK + b"Content-Length: 5\r\n\r\nERROR")) as port:
        workload = users("user", "published", POPULATION)
        requests = drive(port, workload, seconds=0.3, users=2).requests
    assert set(requests.error.dropna()) <= {"page", "cut"}
    assert (requests.error == "page").any()


def test_an_image_that_fails_is_named_and_the_session_goes_on(drive: Driver) -> None:
    page = sends(OK + b'Content-Length: 18\r\n\r\n<img src="/a.png">')
    missing = sends(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
    replies = itertools.cycle([page, missing])

    def alternates(connection: socket.socket) -> None:
        next(replies)(connection)

    with serving(alternates) as port:
        requests = drive(port, seconds=0.5, users=1).requests
    assert set(requests.error) == {"image_status_404"}
    assert set(requests.status) == {200}
    assert len(requests) > 1


def test_images_of_images_are_not_fetched(drive: Driver) -> None:
    with serving(sends(OK + b'Content-Length: 18\r\n\r\n<img src="/a.png">')) as port:
        requests = drive(port, seconds=0.3, users=2).requests
    assert requests.error.isna().all()


BAD_PLANS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"user": 3}, "user"),
    "no phases": ({"phases": []}, "phases"),
    "wrong type": ({"users": "many"}, "many"),
    "unknown mode": ({"loop": {"mode": "half-open"}}, "half-open"),
    "bad range": ({"sources": ["127.0.0.0/99"]}, "127.0.0.0/99"),
    "a phase of 292 years": (
        {"phases": [{"name": "runtime", "duration_ns": 2**63 - 1}]},
        "ten years",
    ),
    "phases too long together": (
        {"phases": [{"name": "runtime", "duration_ns": 2**58}] * 40},
        "`phases`",
    ),
    "endless thinking": (
        {"loop": {"mode": "closed", "think_ns": 2**63 - 1}},
        "`loop.think_ns`",
    ),
    "an endless cap": (
        {"loop": {"mode": "closed", "think_ns": 1, "think_cap_ns": 2**63 - 1}},
        "`loop.think_cap_ns`",
    ),
    "an endless timeout": (
        {"timeouts": {"connect_ns": None, "request_ns": 2**63 - 1}},
        "`timeouts.request_ns`",
    ),
    "no threads": ({"threads": 0}, "`threads`"),
    "an endless grace": ({"grace_ns": 2**63 - 1}, "`grace_ns`"),
    "too many users for the file limit": (
        {"users": 10_000_000, "connection": "keep_alive"},
        "per_request",
    ),
}


@pytest.mark.parametrize("name", BAD_PLANS)
def test_a_bad_plan_gets_one_sentence(name: str, drive: Driver) -> None:
    changes, said = BAD_PLANS[name]
    driven = drive.end(drive.start(1, **changes))
    assert_one_sentence(driven.status, driven.said, said)


BAD_WORKLOADS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown home": ({"home": "Nowhere"}, "Nowhere"),
    "home that needs a page": ({"home": "ViewStory"}, "ViewStory"),
    "no words": ({"dictionary": []}, "dictionary"),
    "an endless pause": ({"rules": {"reopen_after_ns": 2**63 - 1}}, "rules.reopen_after_ns"),
    "unknown rule": ({"rules": {"opens_": 1}}, "opens_"),
    "shares": ({"sessions": []}, "shares"),
}


@pytest.mark.parametrize("name", BAD_WORKLOADS)
def test_a_bad_workload_gets_one_sentence(name: str, drive: Driver) -> None:
    changes, said = BAD_WORKLOADS[name]
    workload = users("read-write", "corrected", POPULATION) | changes
    driven = drive.end(drive.start(1, workload))
    assert_one_sentence(driven.status, driven.said, said)


def assert_one_sentence(status: int, said: str, about: str) -> None:
    assert status == 1
    assert about in said
    assert len(said.strip().splitlines()) == 1
    assert "panicked" not in said


@pytest.mark.parametrize("threads", [1, 3])
def test_a_full_disk_ends_all_threads_with_one_sentence(threads, drive: Driver, site) -> None:
    drive.folder.mkdir()
    (drive.folder / "requests.arrows").symlink_to("/dev/full")
    driven = drive.end(drive.start(site(), seconds=60, users=6, threads=threads))
    assert_one_sentence(driven.status, driven.said, "requests.arrows")


def test_nobody_reads_the_progress(drive: Driver, site) -> None:
    process = drive.start(site(), seconds=1.5)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=20) == 0
    assert isinstance(process, subprocess.Popen)
