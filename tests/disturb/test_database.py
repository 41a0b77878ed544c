"""Lock, checkpoint, cold cache, filled-up connections against databases, disk and memory too."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from signal import SIGINT, SIGKILL, Signals
from typing import Any

import pytest

from tests.disturb.client import Client
from tests.disturb.conftest import (
    CALM,
    LEAD,
    MS,
    Disturb,
    Domain,
    at,
    entry,
    new_domain,
)
from tests.disturb.databases import KINDS, TABLE, Database
from tests.figures import figure
from tests.pace import wait_until
from tierlab.environments.device import device_of

MIB = 1 << 20
FILLED = round(2.5 * LEAD)
"""From the plan on, for an agent that makes a table as large as PostgreSQL's buffer pool."""
ALL = "SELECT count(*) FROM stories"
CHANGES = "UPDATE stories SET n = n + 1 WHERE id = {}"

only_mariadb = pytest.mark.parametrize("database", ["mariadb"], indirect=True)
"""What its domain is denied and not what it is asked."""
only_postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)
"""Last in this file: pytest takes it for the first database's and would come back to that."""


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Domain]:
    """One for all tests: each leaves it as it was."""
    with new_domain(tmp_path_factory.mktemp("domain")) as made:
        yield made


@pytest.fixture(scope="module", params=KINDS)
def database(request: pytest.FixtureRequest, domain: Domain) -> Iterator[Database]:
    with KINDS[request.param](domain) as made:
        yield made


@pytest.mark.parametrize(
    ("keys", "statements"),
    [({}, (ALL, "SELECT 1")), ({"rows": 3}, (CHANGES.format(9), CHANGES.format(1)))],
    ids=["table", "rows"],
)
def test_who_needs_what_is_locked_waits_until_its_release(
    database: Database,
    domain: Domain,
    disturb: Disturb,
    keys: dict[str, Any],
    statements: tuple[str, str],
) -> None:
    client, other = (Client(database, statement) for statement in statements)
    run = disturb(entry(domain, 1, "lock", LEAD, 500 * MS, **TABLE, **database.login, **keys))
    (truth,) = run.finish()
    wait_until(lambda: bool(client.across(run.end_ns())), "the answer", 1)
    client.stop()
    other.stop()
    # It is not released before its time.
    locked = truth["effect"]["granted_ns"], run.end_ns()
    assert not client.within(*locked)
    assert other.within(*locked)


def does_not_outlive(
    database: Database, domain: Domain, disturb: Disturb, how: Signals, *others: dict[str, Any]
) -> None:
    """A lock lasts until the agent is ended, whatever else it does."""
    client = Client(database, ALL)
    lead = FILLED if others else LEAD
    lock = entry(domain, 1, "lock", lead, 30_000 * MS, **TABLE, **database.login)
    run = disturb(lock, *others)
    assert bool(others) == bool(left_behind(database))
    at(run.start_ns(-1))
    wait_until(lambda: client.stands(0.3), "the lock", 10)
    answered = len(client.times)
    run.process.send_signal(how)
    wait_until(lambda: len(client.times) > answered, "the release", 5)
    client.stop()


@pytest.mark.parametrize("how", [SIGINT, SIGKILL])
def test_neither_a_lock_nor_tables_nor_a_cold_cache_outlive_the_agent(
    database: Database, domain: Domain, disturb: Disturb, how: Signals
) -> None:
    pool_bytes = database.pool_bytes()
    others = (
        entry(domain, 2, "checkpoint", FILLED, 30_000 * MS, dirty=2 * MIB, **database.login),
        entry(domain, 3, "cold_cache", FILLED, 30_000 * MS, **database.login),
    )
    does_not_outlive(database, domain, disturb, how, *others)
    wait_until(lambda: not left_behind(database), "the tables' end", 5)
    # What empties the pool is one statement, which goes on to its end.
    wait_until(lambda: database.pool_bytes() == pool_bytes, "the pool's size", 10)


def test_a_table_that_is_not_there_is_one_sentence_before_anything_starts(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    absent = database.login | {"table": "nothing"}
    said = rf"disturbance 4 \(lock on s\.1\).*'?{absent['database']}\.nothing"
    with pytest.raises(AssertionError, match=said):
        disturb(entry(domain, 4, "lock", LEAD, MS, **absent))


def test_changed_pages_are_written_and_leave_nothing(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    """By the database's own count; two share a table."""
    keys = {"dirty": 2 * MIB, **database.login}
    first = entry(domain, 1, "checkpoint", LEAD, MS, **keys)
    run = disturb(first, entry(domain, 2, "checkpoint", LEAD + 300 * MS, MS, **keys))
    before = database.written_bytes()
    truths = run.finish()
    wait_until(lambda: database.written_bytes() - before >= 4 * MIB, "the count of them", 5)
    assert [each["effect"] for each in truths] == [{"checkpoints": 1}] * 2
    assert not left_behind(database)


def left_behind(database: Database) -> list[str]:
    """Tables of the agent's."""
    with closing(database.connect()) as own, closing(own.cursor()) as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables")
        return [name for (name,) in cursor.fetchall() if name.startswith("tierlab")]


@contextmanager
def wide_table(database: Database) -> Iterator[None]:
    """One of 8 MiB, and of what may stay in memory."""
    rows = (8 * MIB + database.kept_bytes) // 1024
    with closing(database.connect()) as own, closing(own.cursor()) as cursor:
        cursor.execute("CREATE TABLE wide (id INT PRIMARY KEY, filler VARCHAR(1000) NOT NULL)")
        cursor.execute("INSERT INTO wide VALUES (1, REPEAT('x', 900))")
        for size in itertools.takewhile(lambda size: size < rows, (1 << n for n in range(32))):
            cursor.execute(
                f"INSERT INTO wide SELECT id + {size}, filler FROM wide WHERE id <= {rows - size}"
            )
        yield
        cursor.execute("DROP TABLE wide")


def test_an_emptied_cache_is_read_from_the_disk_again_and_leaves_nothing(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    """By the kernel's account of the process that reads."""
    pool_bytes = database.pool_bytes()
    with wide_table(database), closing(database.connect()) as own, closing(own.cursor()) as cursor:
        io = Path(f"/proc/{database.reader(own)}/io")

        def read_bytes() -> int:
            """What it takes from the disk to read all of the table."""
            before = _keyed(io)["read_bytes"]
            cursor.execute("SELECT count(*), max(filler) FROM wide")
            cursor.fetchall()
            return _keyed(io)["read_bytes"] - before

        run = disturb(
            *(entry(domain, n, "cold_cache", FILLED, MS, **database.login) for n in (1, 2))
        )
        read_bytes()
        assert read_bytes() == 0, "all of it is in memory"
        truths = run.finish()
        cold = read_bytes()
    figure(f"{cold / MIB:.1f} MiB read")
    assert cold >= 7 * MIB
    assert [each["effect"] for each in truths] == [{"emptied": 1}] * 2
    assert database.pool_bytes() == pool_bytes
    assert not left_behind(database)


def _keyed(file: Path) -> dict[str, int]:
    return {
        key.rstrip(":"): int(value)
        for key, value in (line.split() for line in file.read_text().splitlines())
    }


def test_filled_connections_turn_the_next_client_away(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    held = {"resource": "max_connections", "hold": database.most_connections + 5}
    run = disturb(entry(domain, 1, "pool", LEAD, 800 * MS, **held, **database.login))
    assert database.is_open()
    at(run.start_ns())
    wait_until(lambda: not database.is_open(), "the refusal", 1)
    run.finish()
    wait_until(database.is_open, "the connections' release", 5)


@contextmanager
def throttled(domain: Domain, bytes_per_second: int) -> Iterator[None]:
    """Limit what the domain writes to the disk below its folder, as a trial's tier is limited."""
    file = domain.groups["blkio"] / "blkio.throttle.write_bps_device"
    device = device_of(domain.folder)
    file.write_text(f"{device} {bytes_per_second}")
    yield
    file.write_text(f"{device} 0")


@pytest.mark.alone
@only_mariadb
def test_commits_take_ten_times_as_long_in_a_storm_of_writes(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    with throttled(domain, 8 * MIB):
        client = Client(database, CHANGES.format(1))
        run = disturb(entry(domain, 1, "disk", LEAD + 2 * CALM, 1_000 * MS, write=256 << 10))
        calm = time.time_ns()
        at(run.start_ns() - 100 * MS)
        written = written_bytes(domain)
        at(run.end_ns() - 50 * MS)
        written = written_bytes(domain) - written
        (truth,) = run.finish()
        client.stop()
    before = statistics.median(client.took(calm, run.start_ns() - 100 * MS))
    during = statistics.median(client.took(truth["start_ns"] + 20 * MS, truth["end_ns"]))
    figure(f"commit: {before / MS:.2f} ms, in the storm {during / MS:.2f} ms")
    assert written > 4 * MIB
    assert during > 10 * before
    assert not list(domain.folder.glob("neighbour*"))


def written_bytes(domain: Domain) -> int:
    text = (domain.groups["blkio"] / "blkio.throttle.io_service_bytes").read_text()
    return sum(int(line.split()[2]) for line in text.splitlines() if " Write " in line)


@pytest.mark.alone
@only_mariadb
def test_a_taker_of_memory_makes_the_server_read_its_own_program_again(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    memory = domain.groups["memory"]
    client = Client(database, "SELECT count(*) FROM stories WHERE n < 100")
    unlimited = (memory / "memory.limit_in_bytes").read_text()
    run = disturb(entry(domain, 1, "memory", LEAD + 2 * CALM, 1_000 * MS))
    assert (memory / "memory.limit_in_bytes").read_text() == unlimited
    at(run.start_ns() - 200 * MS)
    before = domain.keyed("memory", "memory.stat")
    at(run.end_ns() - 50 * MS)
    during = domain.keyed("memory", "memory.stat")
    (truth,) = run.finish()
    wait_until(lambda: client.longest(truth["end_ns"] + CALM, time.time_ns()) > 0, "recovery")
    client.stop()
    after = domain.keyed("memory", "memory.stat")
    calm = statistics.median(client.took(run.start_ns() - 2 * CALM, run.start_ns()))
    worst = client.longest(truth["start_ns"], truth["end_ns"])
    faults = after["total_pgmajfault"] - before["total_pgmajfault"]
    figure(f"{faults} major faults, calm {calm / MS:.1f} ms, worst {worst / MS:.0f} ms")
    assert during["total_mapped_file"] < before["total_mapped_file"] / 2
    assert faults > 0
    assert worst > max(10 * calm, 100 * MS)
    assert (memory / "memory.limit_in_bytes").read_text() == unlimited
    assert truth["effect"]["most_bytes"] >= 4 * MIB


@only_postgresql
def test_a_killed_agents_wait_for_a_lock_does_not_outlive_it(
    database: Database, domain: Domain, disturb: Disturb
) -> None:
    """It would keep out all who come later, for as long as somebody else has the table."""
    with closing(database.connect()) as holder, closing(holder.cursor()) as cursor:
        cursor.execute("BEGIN")
        cursor.execute(ALL)
        does_not_outlive(database, domain, disturb, SIGKILL)
