"""PostgreSQL before and after Debian 12's, whose statistics have other names."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.pace import wait_until
from tests.rubis.private_postgresql import private_postgresql

from .conftest import MILLISECOND, Start

pytestmark = [pytest.mark.slow, pytest.mark.environments]

ARCHIVES = Path(__file__).parents[2] / ".setup"
POLL_NS = 50 * MILLISECOND
ACCESS = "local all rubis {}\nlocal all postgres trust\n"


@pytest.mark.parametrize(
    ("version", "login", "written", "counts_log_waits"),
    [
        # Servers before 14 keep passwords as MD5 has them.
        ("13.18.0", "md5", "SELECT buffers_checkpoint FROM pg_stat_bgwriter", False),
        ("18.3.0", "scram-sha-256", "SELECT buffers_written FROM pg_stat_checkpointer", True),
    ],
)
def test_what_another_version_counts_is_its_own(
    start: Start, version: str, login: str, written: str, counts_log_waits: bool
) -> None:
    """Of versions before 14 and since 17 nothing was measured at all."""
    archive = ARCHIVES / f"postgresql-{version}.txz"
    if not archive.exists():
        pytest.skip(f"{archive.name} is not fetched: make setup-environments")
    with (
        private_postgresql("rubis", archive, password_encryption=login) as server,
        closing(server.connect()) as own,
    ):
        own.run("CREATE ROLE rubis LOGIN PASSWORD 'secret' IN ROLE pg_read_all_stats")
        own.run("CREATE TABLE t AS SELECT n FROM generate_series(1, 50000) AS n")
        (server.folder / "data/pg_hba.conf").write_text(ACCESS.format(login))
        own.run("SELECT pg_reload_conf()")
        told = {"user": "rubis", "password": "secret", "socket": server.socket}
        asked = {"subject": "db.1", "protocol": "postgresql", **told}
        sampling = start(tables=["database"], databases=[asked], database_interval_ns=POLL_NS)
        time.sleep(6 * POLL_NS / 1e9)
        ((before,),) = own.run(written)
        own.run("CHECKPOINT")
        wait_until(lambda: own.run(written) != [[before]], "the count of it")
        time.sleep(6 * POLL_NS / 1e9)
        ((after,),) = own.run(written)
        assert "database" not in sampling.stop()["not_measured"]
    rows = sampling.table("database")
    assert rows.pages_flushed.sum() == after - before
    assert set(rows.threads_connected) == {1}, "the test's own"
    assert rows.log_waits.notna().all() == rows.log_waits.notna().any() == counts_log_waits
