"""MariaDB's seed data: made by a server of its own, without network."""

from __future__ import annotations

import re
import time
from pathlib import Path
from subprocess import run

import pymysql

from tierlab.environments.domain import Domain
from tierlab.environments.process import Process
from tierlab.errors import UserError
from tierlab.servers.base import CONSOLE
from tierlab.servers.content import Content
from tierlab.servers.database import Loader
from tierlab.servers.failure import why
from tierlab.servers.mariadb_options import DATA, SOCKET, TMP, common_options, option_file
from tierlab.servers.programs import find_program

INSTALL_SECONDS = 120.0
START_SECONDS = 60.0
STOP_SECONDS = 120.0
STATEMENT_SECONDS = 1800
LOGS = (CONSOLE,)
FORM = 2
"""Of the seed; goes up when the same data is kept in another way."""
LOAD_BUFFER_POOL = 512 << 20


class MariaDBSeed:
    """Makes a data folder with a workload's tables."""

    kind = "mariadb"

    def version(self) -> str:
        """The server's version, and the seed's form."""
        return f"{_version()}-{FORM}"

    def build(self, domain: Domain, content: Content) -> Path:
        """A folder without sockets, process numbers and accounts."""
        assert content.loader is not None
        _build(domain, content.loader, content.credentials.database)
        for name in ("mysqld.pid", SOCKET):
            (domain.folder / DATA / name).unlink(missing_ok=True)
        return domain.folder / DATA


def _version() -> str:
    """The server's version, since an older server does not read a newer one's files."""
    said = run([find_program("mariadbd"), "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Ver (\S+)", said.stdout)
    if found is None:
        raise UserError("'mariadbd --version' says no version; reinstall mariadb-server-core.")
    return found[1]


def _build(domain: Domain, loader: Loader, database: str) -> None:
    folder = domain.folder
    for name in (DATA, TMP, "logs"):
        domain.make_folder(name)
    options = {
        **common_options(folder / DATA),
        "skip-networking": 1,
        "innodb_buffer_pool_size": LOAD_BUFFER_POOL,
        # Nothing is lost if this server dies: the half-built seed is thrown away.
        "innodb_flush_log_at_trx_commit": 0,
        "innodb_doublewrite": "OFF",
        # Else each table waits for the disk ten times: 3.3 s of 4 in a virtual machine.
        "debug_no_sync": 1,
    }
    domain.write("my.cnf", option_file(options))
    installed = domain.run(
        [
            find_program("mariadb-install-db"),
            f"--defaults-file={folder}/my.cnf",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ],
        timeout=INSTALL_SECONDS,
    )
    if installed.status != 0:
        domain.write(CONSOLE, installed.stdout + installed.stderr)
        raise UserError(f"mariadb-install-db failed{_why(domain)}")
    server = domain.spawn(
        [find_program("mariadbd"), f"--defaults-file={folder}/my.cnf"], log=CONSOLE
    )
    _load(server, domain, loader, database)
    if not server.stop(STOP_SECONDS):
        raise UserError("the seed's mariadbd did not stop; its data is thrown away, try again.")


def _why(domain: Domain) -> str:
    return why(domain.folder, [domain.text(name) or "" for name in LOGS])


def _load(server: Process, domain: Domain, loader: Loader, database: str) -> None:
    connection = _connect(server, domain)
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE `{database}` CHARACTER SET utf8mb4")
        connection.select_db(database)
        loader.load(connection)
        connection.commit()
        _drop_accounts(connection)
    except (pymysql.MySQLError, OSError) as error:
        raise UserError(f"loading {loader.key} failed ({error.args[-1]}){_why(domain)}") from error
    finally:
        connection.close()


def _drop_accounts(connection: pymysql.connections.Connection[pymysql.cursors.Cursor]) -> None:
    """The installation's have no password; the system's own, which views need, is locked."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT User, Host FROM mysql.user WHERE User != 'mariadb.sys'")
        for account in cursor.fetchall():
            cursor.execute("DROP USER %s@%s", account)


def _connect(
    server: Process, domain: Domain
) -> pymysql.connections.Connection[pymysql.cursors.Cursor]:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return pymysql.connect(
                unix_socket=str(domain.folder / DATA / SOCKET),
                user="root",
                local_infile=True,
                read_timeout=STATEMENT_SECONDS,
                ssl_disabled=True,
            )
        except pymysql.MySQLError as error:
            if server.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
                continue
            raise UserError(
                f"the seed's mariadbd did not start ({error.args[-1]}){_why(domain)}"
            ) from error
