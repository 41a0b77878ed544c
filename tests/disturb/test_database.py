"""Lock, disk, memory and filled-up connections against a MariaDB in a domain."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from tests.disturb.client import Client
from tests.disturb.conftest import LEAD, MS, Disturb, Domain, at, entry, wait_for
from tests.figures import figure
from tierlab.environments.device import device_of

pytestmark = pytest.mark.alone

MIB = 1 << 20
STORIES = {"table": "stories"}


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty data folder."""
    data = tmp_path_factory.mktemp("seed") / "data"
    options = ["--no-defaults", f"--datadir={data}", "--user=root", "--innodb-log-file-size=8M"]
    subprocess.run(
        ["mariadb-install-db", *options, "--auth-root-authentication-method=normal"],
        check=True,
        capture_output=True,
    )
    return data


@dataclass
class Database:
    """A MariaDB in the domain, with a table of ten rows."""

    domain: Domain

    @property
    def socket(self) -> str:
        return str(self.domain.folder / "data" / "mysqld.sock")

    @property
    def login(self) -> dict[str, Any]:
        where = {"protocol": "mysql", "socket": self.socket}
        return where | {"user": "root", "database": "test"}

    def connect(self) -> Connection[Cursor]:
        return pymysql.connect(
            unix_socket=self.socket, user="root", database="test", autocommit=True
        )

    def is_up(self) -> bool:
        try:
            self.connect().close()
        except pymysql.MySQLError:
            return False
        return True


@pytest.fixture
def database(domain: Domain, seed: Path) -> Database:
    """The program is a copy, so that the domain pays for its pages when it reads them."""
    shutil.copytree(seed, domain.folder / "data")
    program = domain.folder / "server"
    found = shutil.which("mariadbd")
    assert found is not None
    shutil.copy(found, program)
    # Written pages are dropped from the cache, and charged to who reads them first.
    subprocess.run(["sync", program], check=True)
    subprocess.run(["dd", f"if={program}", "iflag=nocache", "count=0", "status=none"], check=True)
    server = Database(domain)
    options = [
        f"--datadir={domain.folder}/data",
        "--socket=mysqld.sock",
        "--skip-networking",
        "--user=root",
        "--innodb-log-file-size=8M",
        "--innodb-buffer-pool-size=8M",
        "--max-connections=20",
        "--performance-schema=OFF",
    ]
    with (domain.folder / "log").open("wb") as log:
        domain.start(str(program), "--no-defaults", *options, stdout=log, stderr=log)
    wait_for(server.is_up, (domain.folder / "log").read_text() or "the database's start", 60)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE stories (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
        cursor.execute("INSERT INTO stories SELECT seq, 0 FROM seq_1_to_10")
    return server


@pytest.mark.parametrize(
    ("keys", "statement"),
    [
        ({}, "SELECT COUNT(*) FROM stories"),
        ({"rows": 3}, "UPDATE stories SET n = n + 1 WHERE id = 9"),
    ],
    ids=["table", "rows"],
)
def test_who_needs_what_is_locked_waits_until_its_release(
    database: Database, disturb: Disturb, keys: dict[str, Any], statement: str
) -> None:
    client = Client(database, statement)
    other = Client(database, "SELECT id FROM stories WHERE id = 1" if keys else "DO 0")
    run = disturb(
        entry(database.domain, 1, "lock", LEAD, 500 * MS, **STORIES, **database.login, **keys)
    )
    (truth,) = run.finish()
    time.sleep(0.2)
    client.stop()
    other.stop()
    start, end = truth["start_ns"], truth["end_ns"]
    (waited,) = [(b, e) for b, e in client.times if e - b > 300 * MS]
    assert waited[0] < start + 100 * MS
    assert -5 * MS < waited[1] - end < 100 * MS
    assert other.longest(start, end) < 300 * MS


@pytest.mark.parametrize("how", ["interrupt", "kill"])
def test_a_lock_does_not_outlive_the_agent(database: Database, disturb: Disturb, how: str) -> None:
    run = disturb(entry(database.domain, 1, "lock", LEAD, 30_000 * MS, **STORIES, **database.login))
    at(run.start_ns() + 300 * MS)
    client = Client(database, "SELECT COUNT(*) FROM stories")
    time.sleep(0.3)
    assert not client.times
    run.process.kill() if how == "kill" else run.process.send_signal(2)
    wait_for(lambda: bool(client.times), "the release", 5)
    client.stop()


def test_a_table_that_is_not_there_is_one_sentence_before_anything_starts(
    database: Database, disturb: Disturb
) -> None:
    absent = database.login | {"table": "nothing"}
    with pytest.raises(AssertionError, match=r"disturbance 4 \(lock on s\.1\).*'?test\.nothing"):
        disturb(entry(database.domain, 4, "lock", LEAD, MS, **absent))


def throttle(domain: Domain, bytes_per_second: int) -> None:
    """Limit what the domain writes to the disk below its folder, as a trial's tier is limited."""
    file = domain.groups["blkio"] / "blkio.throttle.write_bps_device"
    file.write_text(f"{device_of(domain.folder)} {bytes_per_second}")


def commits(database: Database, disturb: Disturb) -> tuple[float, float]:
    """How long one takes (ns, medians): on a calm disk, and in a storm of writes."""
    throttle(database.domain, 8 * MIB)
    client = Client(database, "UPDATE stories SET n = n + 1 WHERE id = 1")
    run = disturb(entry(database.domain, 1, "disk", 3 * LEAD, 1_000 * MS, write=256 << 10))
    time.sleep(0.5)
    calm = time.time_ns()
    at(run.start_ns() - 100 * MS)
    written = written_bytes(database.domain)
    at(run.end_ns() - 50 * MS)
    written = written_bytes(database.domain) - written
    (truth,) = run.finish()
    client.stop()
    before = statistics.median(client.took(calm, run.start_ns() - 100 * MS))
    during = statistics.median(client.took(truth["start_ns"] + 20 * MS, truth["end_ns"]))
    figure(f"commit: {before / MS:.2f} ms, in the storm {during / MS:.2f} ms")
    assert written > 4 * MIB
    return before, during


def test_commits_take_ten_times_as_long_in_a_storm_of_writes(
    database: Database, disturb: Disturb
) -> None:
    calm, stormy = commits(database, disturb)
    assert stormy > 10 * calm
    assert not list(database.domain.folder.glob("neighbour*"))


def written_bytes(domain: Domain) -> int:
    text = (domain.groups["blkio"] / "blkio.throttle.io_service_bytes").read_text()
    return sum(int(line.split()[2]) for line in text.splitlines() if " Write " in line)


def test_filled_connections_turn_the_next_client_away(database: Database, disturb: Disturb) -> None:
    keys = {"resource": "max_connections", "hold": 25, **database.login}
    run = disturb(entry(database.domain, 1, "pool", LEAD, 500 * MS, **keys))
    assert database.is_up()
    at(run.start_ns() + 200 * MS)
    assert not database.is_up()
    run.finish()
    wait_for(database.is_up, "the connections' release", 5)


def test_a_taker_of_memory_makes_the_server_read_its_own_program_again(
    database: Database, disturb: Disturb
) -> None:
    memory = database.domain.groups["memory"]
    client = Client(database, "SELECT COUNT(*) FROM stories WHERE n < 100")
    unlimited = (memory / "memory.limit_in_bytes").read_text()
    run = disturb(entry(database.domain, 1, "memory", 2 * LEAD, 1_000 * MS))
    assert (memory / "memory.limit_in_bytes").read_text() == unlimited
    at(run.start_ns() - 200 * MS)
    before = database.domain.keyed("memory", "memory.stat")
    at(run.end_ns() - 50 * MS)
    during = database.domain.keyed("memory", "memory.stat")
    (truth,) = run.finish()
    wait_for(lambda: client.longest(truth["end_ns"] + 500 * MS, time.time_ns()) > 0, "recovery")
    client.stop()
    after = database.domain.keyed("memory", "memory.stat")
    calm = statistics.median(client.took(run.start_ns() - 1_000 * MS, run.start_ns()))
    worst = client.longest(truth["start_ns"], truth["end_ns"])
    faults = after["total_pgmajfault"] - before["total_pgmajfault"]
    figure(f"{faults} major faults, calm {calm / MS:.1f} ms, worst {worst / MS:.0f} ms")
    assert during["total_mapped_file"] < before["total_mapped_file"] / 2
    assert faults > 0
    assert worst > max(10 * calm, 100 * MS)
    assert (memory / "memory.limit_in_bytes").read_text() == unlimited
    assert truth["effect"]["most_bytes"] >= 4 * MIB
