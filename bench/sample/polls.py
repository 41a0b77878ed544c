"""What a poll costs a database server: CPU time of its processes with the sampler and without.

Each server has idle connections, and one whose statement runs all the time, as a busy application's
pool has them.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pymysql
from pg8000 import dbapi
from servers import cpu_ns

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "agent/target/release/tierlab-agent"
POSTGRESQL = Path("/usr/lib/postgresql/15/bin")
ACCOUNT: dict[str, Any] = {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}
"""PostgreSQL refuses to be root's."""
INTERVAL_NS = 20_000_000
PATIENCE_S = 20.0
Connect = Callable[[], Any]


@contextmanager
def running(
    command: list[Any], folder: Path, stop: signal.Signals, **options: Any
) -> Iterator[psutil.Process]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **options)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.send_signal(stop)
        process.wait(PATIENCE_S)


@contextmanager
def postgresql(folder: Path) -> Iterator[tuple[psutil.Process, Connect, dict[str, str]]]:
    if ACCOUNT:
        shutil.chown(folder, **ACCOUNT)
    make = [POSTGRESQL / "initdb", "-D", folder / "data", "-U", "root", "-A", "trust", "--no-sync"]
    subprocess.run(make, check=True, capture_output=True, cwd=folder, **ACCOUNT)
    settings = ("listen_addresses=", f"unix_socket_directories={folder}", "max_connections=300")
    options = [each for setting in settings for each in ("-c", setting)]
    server = [POSTGRESQL / "postgres", "-D", folder / "data", *options]
    socket = str(folder / ".s.PGSQL.5432")
    # SIGINT: "fast", which waits for no client.
    with running(server, folder, signal.SIGINT, **ACCOUNT) as process:
        login = {"protocol": "postgresql", "socket": socket}
        yield process, lambda: dbapi.connect("root", unix_sock=socket, database="template1"), login


@contextmanager
def mariadb(folder: Path) -> Iterator[tuple[psutil.Process, Connect, dict[str, str]]]:
    options = ["--no-defaults", f"--datadir={folder}/data", f"--user={getpass.getuser()}"]
    way = "--auth-root-authentication-method=normal"
    subprocess.run(["mariadb-install-db", *options, way], check=True, capture_output=True)
    socket = str(folder / "s")
    more = ["--skip-networking", "--max-connections=300", "--performance-schema=OFF"]
    server = ["mariadbd", *options, *more, f"--socket={socket}"]
    with running(server, folder, signal.SIGTERM) as process:
        login = {"protocol": "mysql", "socket": socket}
        yield process, lambda: pymysql.connect(unix_socket=socket, user="root"), login


SERVERS = {
    "postgresql": (postgresql, "SELECT pg_sleep(1000)"),
    "mariadb": (mariadb, "SELECT SLEEP(1000)"),
}


def await_server(connect: Connect) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            connect().close()
        except (OSError, pymysql.MySQLError, dbapi.Error):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def wait_in(connect: Connect, statement: str) -> None:
    """Have a statement under way until the server ends it with itself."""
    with suppress(OSError, pymysql.MySQLError, dbapi.Error):
        connect().cursor().execute(statement)


def spent_ns(server: psutil.Process) -> int:
    """CPU time of the server's processes so far."""
    return sum(cpu_ns(each.pid) for each in (server, *server.children(recursive=True)))


def cost(agent: Path, server: psutil.Process, login: dict[str, str], seconds: float) -> list[float]:
    """Milliseconds of CPU time a poll: the server's, the sampler's; and how long one took."""
    before = spent_ns(server)
    time.sleep(seconds)
    idle = spent_ns(server) - before
    with tempfile.TemporaryDirectory(prefix="tierlab-bench-") as folder:
        asked = {"subject": "db.1", "user": "root", "password": "", **login}
        plan = {"interval_ns": INTERVAL_NS, "database_interval_ns": INTERVAL_NS}
        file = Path(folder) / "plan.json"
        file.write_text(json.dumps({**plan, "tables": ["database"], "databases": [asked]}))
        command = [str(agent), "sample", "--plan", str(file), "--out", folder]
        sampler = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert sampler.stdout is not None
        sampler.stdout.readline()
        before, own = spent_ns(server), cpu_ns(sampler.pid)
        time.sleep(seconds)
        polled, own = spent_ns(server) - before, cpu_ns(sampler.pid) - own
        sampler.send_signal(signal.SIGTERM)
        said, _ = sampler.communicate(timeout=PATIENCE_S)
        if reason := json.loads(said.splitlines()[-1])["summary"]["not_measured"].get("database"):
            sys.exit(reason)
        with pa.OSFile(f"{folder}/database.arrows", "rb") as stream:
            took = pa.ipc.open_stream(stream).read_all()["poll_ns"].to_pylist()
    polls = seconds * 1e9 / INTERVAL_NS
    return [each / 1e6 for each in ((polled - idle) / polls, own / polls, statistics.median(took))]


def measure(name: str, agent: Path, connections: int, runs: int, seconds: float) -> None:
    start, busy = SERVERS[name]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tierlab-bench-")))
        server, connect, login = stack.enter_context(start(folder))
        await_server(connect)
        for _ in range(connections - 1):
            stack.enter_context(closing(connect()))
        waiting = threading.Thread(target=wait_in, args=(connect, busy), daemon=True)
        waiting.start()
        costs = [cost(agent, server, login, seconds) for _ in range(runs)]
    words = ("the server's CPU", "the sampler's", "answered within")
    print(f"{name}, {connections} connections, a poll:")
    for word, each in zip(words, zip(*costs, strict=True), strict=True):
        print(f"  {word} {statistics.median(each):.3f} ms ({min(each):.3f} to {max(each):.3f})")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--agent", type=Path, default=AGENT, help="the agent's binary")
    arguments.add_argument("--quick", action="store_true", help="one short run of each")
    given = arguments.parse_args()
    if not given.agent.exists():
        sys.exit(f"{given.agent} is not there: run `make setup` first")
    runs, seconds = (1, 2.0) if given.quick else (3, 3.0)
    for name in SERVERS:
        for connections in (16, 64, 200):
            measure(name, given.agent, connections, runs, seconds)


if __name__ == "__main__":
    main()
