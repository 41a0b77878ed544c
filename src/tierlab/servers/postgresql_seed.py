"""PostgreSQL's seed data: made by a server of its own, without network."""

from __future__ import annotations

import re
import time
from pathlib import Path
from subprocess import run

from pg8000.exceptions import Error
from pg8000.native import Connection, identifier

from tierlab.environments.domain import Domain
from tierlab.environments.process import Process
from tierlab.errors import UserError
from tierlab.servers.base import CONSOLE
from tierlab.servers.content import Content
from tierlab.servers.failure import why
from tierlab.servers.postgresql_options import (
    ACCESS,
    CONFIGURATION,
    DATA,
    OWNER,
    common_settings,
    configuration,
)
from tierlab.servers.programs import find_program

OLDEST = 15
"""Before, roles had no right to a checkpoint (`pg_checkpoint`) and to set a parameter."""
INSTALL_SECONDS = 120.0
START_SECONDS = 60.0
STOP_SECONDS = 120.0
PORT = 5432
"""Of the socket's name alone."""
FORM = 2
"""Of the seed; goes up when the same data is kept in another way."""

INSERT_LOCK = (
    "CREATE SCHEMA pgpool_catalog AUTHORIZATION {role}",
    "CREATE TABLE pgpool_catalog.insert_lock (reloid OID PRIMARY KEY)",
    "INSERT INTO pgpool_catalog.insert_lock VALUES (0)",
    "ALTER TABLE pgpool_catalog.insert_lock OWNER TO {role}",
)
"""What pgpool-II locks a row of, where it writes to several, so that numbers which a table gives
itself are the same in all; without it, it locks the table, and two who write to it before they
insert are in each other's way for good.
"""


class PostgreSQLSeed:
    """Makes a data folder with a workload's tables, owned by a role that cannot log in yet."""

    kind = "postgresql"

    def version(self) -> str:
        """The server's version, and the seed's form."""
        command = [find_program("postgres"), "--version"]
        said = run(command, capture_output=True, text=True, check=False).stdout
        found = re.search(r"(\d+(?:\.\d+)+)", said)
        if found is None:
            raise UserError("'postgres --version' says no version; reinstall postgresql.")
        if int(found[1].partition(".")[0]) < OLDEST:
            raise UserError(
                f"{command[0]} is PostgreSQL {found[1]}, whose roles have no right to a checkpoint;"
                f" install {OLDEST} or later, or bring it by a command of your own."
            )
        return f"{found[1]}-{FORM}"

    def build(self, domain: Domain, content: Content) -> Path:
        """A folder that was shut down in order."""
        folder = domain.folder
        domain.make_folder("logs")
        settings = {
            **common_settings(folder),
            "listen_addresses": "",
            "port": PORT,
            "shared_buffers": "256MB",
            "maintenance_work_mem": "256MB",
            # Nothing is lost if this server dies: the half-built seed is thrown away.
            "fsync": "off",
            "full_page_writes": "off",
            "autovacuum": "off",
        }
        domain.write(CONFIGURATION, configuration(settings))
        domain.write(ACCESS, f"local all {OWNER} trust\n")
        install(domain)
        command = [find_program("postgres"), "-c", f"config_file={folder / CONFIGURATION}"]
        server = domain.spawn(command, log=CONSOLE)
        _load(server, domain, content)
        if not server.stop(STOP_SECONDS):
            raise UserError("the seed's postgres did not stop; its data is thrown away, try again.")
        return folder / DATA


def install(domain: Domain) -> None:
    """Make an empty data folder in the domain."""
    installed = domain.run(
        [
            find_program("initdb"),
            f"--pgdata={domain.folder / DATA}",
            f"--username={OWNER}",
            "--encoding=UTF8",
            "--locale=C",
            "--auth=reject",
            "--wal-segsize=4",
            "--no-sync",
        ],
        timeout=INSTALL_SECONDS,
    )
    if installed.status != 0:
        domain.write(CONSOLE, installed.stdout + installed.stderr)
        raise UserError(f"initdb failed{_why(domain)}")


def _why(domain: Domain) -> str:
    return why(domain.folder, [domain.text(CONSOLE) or ""])


def _load(server: Process, domain: Domain, content: Content) -> None:
    loader, database = content.loader, content.credentials.database
    assert loader is not None
    role = identifier(content.credentials.user)
    first = _connect(server, domain, OWNER)
    try:
        first.run(f"CREATE ROLE {role}")
        first.run(f"CREATE DATABASE {identifier(database)} OWNER {role}")
    finally:
        first.close()
    connection = _connect(server, domain, database)
    try:
        connection.run("CREATE EXTENSION pg_stat_statements")
        for statement in INSERT_LOCK:
            connection.run(statement.format(role=role))
        connection.run(f"SET SESSION AUTHORIZATION {role}")
        loader.load(connection)
        connection.run("RESET SESSION AUTHORIZATION")
        connection.run("VACUUM (FREEZE, ANALYZE)")
        connection.run("CHECKPOINT")
    except (Error, OSError) as error:
        raise UserError(f"loading {loader.key} failed ({error}){_why(domain)}") from error
    finally:
        connection.close()


def _connect(server: Process, domain: Domain, database: str) -> Connection:
    deadline = time.monotonic() + START_SECONDS
    path = str(domain.folder / DATA / f".s.PGSQL.{PORT}")
    while True:
        try:
            return Connection(OWNER, unix_sock=path, database=database)
        except (Error, OSError) as error:
            if server.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
                continue
            raise UserError(f"the seed's postgres did not start ({error}){_why(domain)}") from error
