"""What memcached and Redis say of themselves, against what the test asked of them."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pandas as pd
import pytest

from tests.pace import wait_until
from tierlab.servers.resp import Resp

from .conftest import MILLISECOND, Sampling, Start

POLL_NS = 20 * MILLISECOND
ADDRESS, ASIDE = ("127.0.38.1", 11211), "127.0.38.1:11210"
"""Where clients are served, and where it is asked about itself."""
MEMORY = 8 << 20


@contextmanager
def running(command: list[str], socket_is_there: Path | tuple[str, int]) -> Iterator[None]:
    """A server, from its first answer to its end."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: answers(socket_is_there), f"{command[0]}'s answer")
            yield
        finally:
            process.kill()


def answers(where: Path | tuple[str, int]) -> bool:
    try:
        connect(where).close()
    except OSError:
        return False
    return True


def connect(where: Path | tuple[str, int]) -> socket.socket:
    if isinstance(where, Path):
        link = socket.socket(socket.AF_UNIX)
        link.connect(str(where))
        return link
    return socket.create_connection(where, timeout=30)


@pytest.fixture
def memcached() -> Iterator[None]:
    where = f"{ADDRESS[0]}:{ADDRESS[1]},{ASIDE}"
    with running(["memcached", "-u", "root", "-l", where, "-m", str(MEMORY >> 20)], ADDRESS):
        yield


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(path), "--dir", str(tmp_path)]
    command += ["--save", "", "--maxmemory", str(MEMORY), "--maxmemory-policy", "allkeys-lru"]
    with running(command, path):
        yield path


def while_it_polls(sampling: Sampling, of: str) -> pd.DataFrame:
    """Its rows, once it has polled some times more."""
    time.sleep(10 * POLL_NS / 1e9)
    summary = sampling.stop()
    assert "cache" not in summary["not_measured"]
    rows = sampling.table("cache")
    assert set(rows.subject) == {of}
    assert len(rows) >= 3
    return rows


@pytest.mark.usefixtures("memcached")
def test_memcached_is_read_as_it_is(start: Start) -> None:
    asked = {"subject": "cache.1", "protocol": "memcached", "address": ASIDE}
    with ExitStack() as open_until:
        for _ in range(3):
            open_until.enter_context(connect(ADDRESS))
        link = open_until.enter_context(connect(ADDRESS))
        sampling = start(tables=["cache"], caches=[asked], database_interval_ns=POLL_NS)
        for request, times in (("set a 0 0 1\r\nx\r\n", 30), ("get a\r\n", 70), ("get b\r\n", 20)):
            link.sendall((request * times + "mn\r\n").encode())
            said = b""
            while not said.endswith(b"MN\r\n"):
                said += link.recv(65_536)
        rows = while_it_polls(sampling, "cache.1")
    assert (rows.hits.sum(), rows.misses.sum(), rows.commands.sum()) == (70, 20, 120)
    last = rows.iloc[-1]
    assert (last["items"], last.memory_limit, last.evictions) == (1, MEMORY, 0)
    assert 50 <= last.memory <= 200
    assert last.connections == 4
    assert last.isna().blocked
    assert rows.bytes_in.sum() >= 30 * 16 + 90 * 7


def test_redis_is_read_as_it_is(start: Start, redis: Path) -> None:
    asked = {"subject": "store.1", "protocol": "redis", "socket": str(redis)}
    with Resp(connect(redis)) as waiting, Resp(connect(redis)) as link:
        sampling = start(tables=["cache"], caches=[asked], database_interval_ns=POLL_NS)
        waiting.send("BLPOP", "nothing", "30")
        for words, times in ((("SET", "a", "x"), 30), (("GET", "a"), 70), (("GET", "b"), 20)):
            for _ in range(times):
                link.ask(*words)
        for number in range(40):
            link.ask("SET", f"big:{number}", "x" * 300_000)
        rows = while_it_polls(sampling, "store.1")
        own = dict(line.split(":", 1) for line in str(link.ask("INFO")).splitlines() if ":" in line)
        keys = link.ask("DBSIZE")
    assert (rows.hits.sum(), rows.misses.sum(), rows.commands.sum()) == (70, 20, 161)
    last = rows.iloc[-1]
    assert (last["items"], last.memory_limit) == (keys, MEMORY)
    assert (last.connections, last.blocked) == (2, 1)
    assert rows.evictions.sum() == int(own["evicted_keys"]) > 0


def test_a_cache_that_does_not_answer_is_named(start: Start, tmp_path: Path) -> None:
    asked = {"subject": "store.1", "protocol": "redis", "socket": str(tmp_path / "none")}
    summary = start(tables=["cache"], caches=[asked]).stop()
    assert "store.1: cannot connect to" in summary["not_measured"]["cache"]


def test_a_cache_that_does_not_answer_beside_another_is_named(
    start: Start, redis: Path, tmp_path: Path
) -> None:
    def asked(subject: str, path: Path) -> dict[str, str]:
        return {"subject": subject, "protocol": "redis", "socket": str(path)}

    silent = tmp_path / "silent"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(silent))
        listener.listen()
        caches = [asked("a", silent), asked("b", tmp_path / "none"), asked("store.1", redis)]
        began = time.monotonic()
        sampling = start(tables=["cache"], caches=caches, database_interval_ns=POLL_NS)
        assert time.monotonic() - began < 15, "it does not wait for the silent one"
        time.sleep(10 * POLL_NS / 1e9)
        summary = sampling.stop()
    said = summary["not_measured"]["cache.servers"]
    assert said.startswith("a: it has not answered; b: cannot connect to"), said
    assert set(sampling.table("cache").subject) == {"store.1"}


def test_without_a_cache_the_table_is_empty(start: Start) -> None:
    sampling = start(tables=["cache"])
    assert not sampling.stop()["not_measured"]
    assert not len(sampling.table("cache"))


def test_a_stopped_cache_answers_late(start: Start, redis: Path) -> None:
    asked = {"subject": "store.1", "protocol": "redis", "socket": str(redis)}
    with Resp(connect(redis)) as link:
        sampling = start(tables=["cache"], caches=[asked], database_interval_ns=POLL_NS)
        link.ask("CLIENT", "LIST")
        # It sleeps within a command, as one that computes for so long.
        link.ask(
            "EVAL",
            "local t = redis.call('TIME'); repeat local n = redis.call('TIME'); "
            "until (n[1] - t[1]) * 1e6 + n[2] - t[2] > 4e5",
            "0",
        )
        rows = while_it_polls(sampling, "store.1")
    assert rows.poll_ns.max() > 300 * MILLISECOND
    assert rows.hits.notna().all()
