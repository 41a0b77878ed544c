"""PostgreSQL in a network namespace, and clients that speak every part of its protocol."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from beds import AS_NOBODY, NOBODY
from traced_servers import TracedServers

from tests.pace import pace
from tierlab.environments.process import Process

PROGRAMS = next(Path("/usr/lib/postgresql").glob("*/bin"), Path("none"))
DB = {"name": "db.1", "address": "127.0.6.1", "port": 5432, "protocol": "postgresql"}
READY_S = 30.0

STATEMENTS = r"""
\set VERBOSITY verbose
SELECT 1;
SELECT * FROM missing;
BEGIN;
SELECT 1 / 0;
SELECT 'in a failed transaction';
ROLLBACK;
SELECT 1\; SELECT 2\; SELECT 1 / 0\; SELECT 3;
DO $$BEGIN RAISE NOTICE 'it''s %', 1; END$$;
CREATE TABLE items (id int, body text);
COPY items FROM STDIN;
1	first
2	second
\.
COPY items FROM STDIN;
not a number
\.
INSERT INTO items SELECT n, repeat('x', 200) FROM generate_series(3, 2000) n;
\copy items TO /dev/null
SELECT * FROM items;
SELECT repeat('x', 300000);
\set FETCH_COUNT 300
SELECT id FROM items;
\unset FETCH_COUNT
PREPARE p AS SELECT $1::int;
EXECUTE p(3);
LISTEN c;
NOTIFY c, 'payload';
SET application_name = 'another';
\lo_import /etc/hostname
"""
"""Queries, errors, notices, copies in and out, cursors, notifications and function calls."""

PIPELINE = r"""
\startpipeline
BEGIN;
SELECT abalance FROM pgbench_accounts WHERE aid = 17;
UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;
END;
\endpipeline
"""


class PostgresqlBed(TracedServers):
    """The server, not started yet, in a folder that an unprivileged user owns."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"tierlab-test-postgresql-{os.getpid()}", (DB,), folder)
        self._server: Process | None = None

    def start(self) -> None:
        """Make a cluster and start it."""
        data = self.folder / "data"
        initdb = [*AS_NOBODY, str(PROGRAMS / "initdb"), "-D", str(data), "-U", "postgres"]
        initdb += ["--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8"]
        subprocess.run(initdb, check=True, capture_output=True, cwd=self.folder, timeout=60)
        (data / "pg_hba.conf").write_text(
            "host all guest all scram-sha-256\nhost all all all trust\n"
        )
        self._certificate(data)
        settings = {
            "listen_addresses": DB["address"],
            "port": DB["port"],
            "unix_socket_directories": "",
            "fsync": "off",
            "shared_preload_libraries": "pg_stat_statements",
            "pg_stat_statements.track_utility": "off",
        }
        command = [*AS_NOBODY, str(PROGRAMS / "postgres"), "-D", str(data)]
        command += [f"--{name}={value}" for name, value in settings.items()]
        self._server = self.spawn(command, self.folder / "postgres.log")
        deadline = time.monotonic() + READY_S
        while "ready to accept connections" not in (self.folder / "postgres.log").read_text():
            assert time.monotonic() < deadline, (self.folder / "postgres.log").read_text()
            time.sleep(0.02)
        self.ask("CREATE EXTENSION pg_stat_statements")
        self.ask("CREATE ROLE guest LOGIN PASSWORD 'secret'")
        self.run(self._client("pgbench", "-i", "-q", "-s", "1"))

    def stop(self) -> None:
        """End it at once: at the usual signal it waits for its clients."""
        try:
            if self._server is not None:
                self._server.stop(10, signal.SIGINT)
        finally:
            super().stop()

    def _certificate(self, data: Path) -> None:
        """For TLS, which is off until a client turns it on."""
        key, certificate = data / "server.key", data / "server.crt"
        command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-subj", "/CN=db"]
        command += ["-pkeyopt", "ec_paramgen_curve:prime256v1"]
        command += ["-keyout", str(key), "-out", str(certificate)]
        subprocess.run(command, check=True, capture_output=True, timeout=30)
        for path in (key, certificate):
            path.chmod(0o600)
            os.chown(path, NOBODY, NOBODY)

    def ask(self, sql: str, *settings: str) -> str:
        """Ask one thing on a connection of its own; `settings` are variables of libpq's."""
        return self.run(["env", *settings, *self._client("psql", "-X", "-A", "-t", "-c", sql)])

    def run_file(self, text: str) -> None:
        """Have psql run a script, whatever fails in it."""
        script = self.folder / "script.sql"
        script.write_text(text)
        self.run(self._client("psql", "-X", "-q", "-o", "/dev/null", "-f", str(script)))

    def cancel(self) -> None:
        """Have a statement cancelled, as a user does who presses Ctrl-C once it runs."""
        sleep = self._client("psql", "-X", "-c", "SELECT pg_sleep(20)")
        pressed = f'timeout -s INT {0.4 * pace():.1f} "$@" || true'
        self.run(["sh", "-c", pressed, "sh", *sleep])

    def pgbench(self, *options: str, script: str | None = None) -> None:
        """Run a load: TPC-B's transactions, or those of a script."""
        if script is not None:
            path = self.folder / "pipeline.sql"
            path.write_text(script)
            options = (*options, "-f", str(path))
        self.run(self._client("pgbench", "-n", *options))

    def speak(self) -> None:
        """Every part of the protocol once, but for encryption."""
        self.ask("SELECT 'by password'", "PGUSER=guest", "PGPASSWORD=secret", "PGDATABASE=postgres")
        self.run(["sh", "-c", '"$@" || true', "sh", *self._client("psql", "-X", "-d", "missing")])
        self.run_file(STATEMENTS)
        self.cancel()
        for way in ("simple", "extended", "prepared"):
            self.pgbench("-M", way, "-c", "3", "-t", "15")
        for way in ("extended", "prepared"):
            self.pgbench("-M", way, "-c", "3", "-t", "15", script=PIPELINE)

    def _client(self, program: str, *options: str) -> Sequence[str]:
        where = ["-h", str(DB["address"]), "-p", str(DB["port"])]
        user = [] if program == "psql" else ["-U", "postgres"]
        environment = ["env", "PGDATABASE=postgres"]
        if program == "psql":
            environment += ["sh", "-c", 'PGUSER=${PGUSER:-postgres} exec "$@"', "sh"]
        return [*environment, str(PROGRAMS / program), *where, *user, *options]
