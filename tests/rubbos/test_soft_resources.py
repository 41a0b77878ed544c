"""What the running application says of its soft resources, and that it does as it is told."""

from __future__ import annotations

import contextlib
import shutil
import socket
import stat
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.figures import figure
from tests.pace import pace
from tests.web import PATIENCE_SECONDS
from tierlab.servers.gc_log import Pause, pauses
from tierlab.servers.soft_log import Use, uses

from .application import Running, running
from .conftest import Start
from .private_mariadb import PrivateMariaDB, free_port
from .test_operation import locked_categories

pytestmark = pytest.mark.slow

MS = 1_000_000


class Control:
    """A connection to the application's control."""

    def __init__(self, path: Path) -> None:
        self._link = socket.socket(socket.AF_UNIX)
        self._link.settimeout(PATIENCE_SECONDS)
        self._link.connect(str(path))
        self._replies = self._link.makefile("r")

    def ask(self, order: str) -> str:
        self._link.sendall(f"{order}\n".encode())
        return self._replies.readline().rstrip("\n")

    def close(self) -> None:
        self._replies.close()
        self._link.close()


@contextmanager
def control(path: Path) -> Iterator[Control]:
    with contextlib.closing(Control(path)) as opened:
        yield opened


def gauges(path: Path, resource: str) -> list[Use]:
    with path.open() as log:
        return [use for use in uses(log) if use.resource == resource]


def last(path: Path, resource: str, **wanted: int) -> Use:
    """The latest gauge, once it has the values wanted."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = gauges(path, resource)[-1:]
        if found and all(getattr(found[0], name) == value for name, value in wanted.items()):
            return found[0]
        assert time.monotonic() < deadline, f"{wanted} did not come: {found}"
        time.sleep(0.05)


@dataclass(frozen=True)
class Limited:
    """An application with 4 connections and 16 threads, its gauges and its control's socket."""

    app: Running
    log: Path
    socket: Path


@pytest.fixture(scope="module")
def limited(
    database: PrivateMariaDB, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Limited]:
    """Each test leaves the limits as they were."""
    folder = tmp_path_factory.mktemp("limited")
    log, path = folder / "soft.log", folder / "s"
    settings = {"jdbc.url": database.jdbc_url, "pool.size": 4, "threads.max": 16}
    settings |= {"soft.log": log, "soft.socket": path}
    with running(folder / "app", free_port(), settings) as app:
        yield Limited(app, log, path)


def test_a_pool_that_is_shrunk_makes_requests_wait(
    limited: Limited, database: PrivateMariaDB
) -> None:
    app, log, path = limited.app, limited.log, limited.socket
    assert last(log, "pool", in_use=0, waiting=0, limit=4)
    assert last(log, "threads", limit=16)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with control(path) as orders, ThreadPoolExecutor(7) as users:
        assert orders.ask("set pool 1") == "ok 4"
        with locked_categories(database):
            pages = [users.submit(app.get, "BrowseCategories") for _ in range(4)]
            assert last(log, "pool", in_use=1, waiting=3, limit=1)
            assert last(log, "threads", in_use=4, waiting=0)
            assert orders.ask("set pool 4") == "ok 1"
            # A larger pool opens a connection for each request that comes; the others within 30 s.
            pages += [users.submit(app.get, "BrowseCategories") for _ in range(3)]
            assert last(log, "pool", in_use=4, waiting=3, limit=4)
        assert {page.result().status for page in pages} == {200}
    assert last(log, "pool", in_use=0, waiting=0, limit=4)


def test_connections_that_somebody_holds_make_requests_wait_until_he_is_gone(
    limited: Limited,
) -> None:
    app, log, path = limited.app, limited.log, limited.socket
    with ThreadPoolExecutor(1) as users:
        with control(path) as orders:
            assert orders.ask("hold pool 5").startswith("error the pool has no more than 4")
            assert orders.ask("hold pool 4") == "ok 4"
            page = users.submit(app.get, "BrowseCategories")
            assert last(log, "pool", in_use=4, waiting=1, limit=4)
        assert page.result().status == 200
    assert last(log, "pool", in_use=0, waiting=0, limit=4), "given back at the end"


def test_threads_that_are_taken_away_make_requests_wait(
    limited: Limited, database: PrivateMariaDB
) -> None:
    app, log, path = limited.app, limited.log, limited.socket
    with control(path) as orders, ThreadPoolExecutor(6) as users:
        assert orders.ask("set threads 2") == "ok 16"
        with locked_categories(database):
            pages = [users.submit(app.get, "BrowseCategories") for _ in range(6)]
            assert last(log, "threads", in_use=2, limit=2, waiting=4)
        assert {page.result().status for page in pages} == {200}
        assert orders.ask("get threads") == "ok 2"
    assert last(log, "threads", in_use=0, waiting=0, limit=16), "put back at the end"


def test_what_a_broken_connection_changed_is_put_back(limited: Limited) -> None:
    path = limited.socket
    with control(path) as orders:
        assert orders.ask("set pool 2") == "ok 4"
        assert orders.ask("set pool 0").startswith("error a limit is a whole number")
    with control(path) as orders:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while orders.ask("get pool") != "ok 4":
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert orders.ask("set pool 3") == "ok 4"
        assert orders.ask("keep") == "ok 0"
    with control(path) as orders:
        time.sleep(0.2)
        assert orders.ask("get pool") == "ok 3"
        assert orders.ask("set pool 4") == "ok 3"
        assert orders.ask("keep") == "ok 0"


def test_gauges_cost_little(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "soft.log"
    app = start(pool_size=64, soft_log=log)
    assert last(log, "pool", limit=64), "the thread has its name by now"
    (task,) = [
        folder
        for folder in Path(f"/proc/{app.process.pid}/task").iterdir()
        if (folder / "comm").read_text() == "soft-gauges\n"
    ]

    def used_ns() -> int:
        return int((task / "schedstat").read_text().split()[0])

    def each_ns() -> float:
        """CPU time of a line, over a second."""
        before, lines = used_ns(), len(gauges(log, "pool"))
        time.sleep(1)
        return (used_ns() - before) / (len(gauges(log, "pool")) - lines)

    time.sleep(2)  # the compiler may not be done with it yet
    # At ten lines a second: 0.5 % of a core; 0.2 % is the aim on a quiet machine.
    seconds = [each_ns() for _ in range(3)]
    took = min(seconds)  # what others do to the caches is no cost of its own
    figure(f"a line of gauges takes {took / 1000:.0f} us, {took / 1e6:.3f} % of a core: {seconds}")
    assert took < 500_000 * pace()


@pytest.mark.alone
def test_a_forced_collection_is_logged_when_clients_wait_for_it(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("jcmd") is None:
        pytest.skip("needs jcmd (a JDK)")
    log = tmp_path / "gc.log"
    decorations = "timemillis,uptimenanos,tags:filecount=0"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-Xlog:gc*,safepoint:file={log}:{decorations}")
    app = start(pool_size=1)
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")  # jcmd is a JVM too
    stop, pings = threading.Event(), list[tuple[int, int]]()
    pinger = threading.Thread(target=_ping, args=(app, stop, pings))
    pinger.start()
    try:
        for _ in range(8):
            subprocess.run(
                ["jcmd", str(app.process.pid), "GC.run"], check=True, capture_output=True
            )
            time.sleep(0.05)
    finally:
        stop.set()
        pinger.join()
    full = [
        pause
        for pause in pauses(log.read_text().splitlines())
        if pause.cause.startswith("Pause Full")
    ]
    assert len(full) == 8
    assert all(pause.is_collection for pause in full)
    waited = [_in_flight(pings, pause) for pause in full]
    early = [
        pause.start_ns + pause.duration_ns - end
        for pause, end in zip(full, waited, strict=True)
        if end is not None
    ]
    # The client itself may stand still between two pings at that moment.
    assert len(early) >= 4
    # The VM lets threads go before it looks at the clock: on a busy machine something may run in
    # between, so not each one is held to this.
    assert statistics.median(early) < MS


def _ping(app: Running, stop: threading.Event, pings: list[tuple[int, int]]) -> None:
    while not stop.is_set():
        began = time.time_ns()
        app.get("Author")
        pings.append((began, time.time_ns()))


def _in_flight(pings: list[tuple[int, int]], pause: Pause) -> int | None:
    """When the request was answered that was under way in the middle of the pause."""
    middle = pause.start_ns + pause.duration_ns // 2
    return next((end for start, end in pings if start < middle < end), None)
