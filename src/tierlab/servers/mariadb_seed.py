"""Seed data: a data folder made once for a workload, scale, seed and server version, then copied.

It is built in the trial's own folder by a server without network, and appears in the cache by a
rename: a half-built seed is never taken for a whole one. It has no account: a trial makes its own.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from subprocess import run

import pymysql

from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.environment import Environment
from tierlab.environments.files import copy_tree
from tierlab.environments.process import Process
from tierlab.errors import UserError
from tierlab.servers.base import CONSOLE
from tierlab.servers.database import Loader
from tierlab.servers.disk import need_room, size
from tierlab.servers.failure import why
from tierlab.servers.mariadb_options import DATA, SOCKET, TMP, common_options, option_file
from tierlab.servers.programs import find_program

KEPT_SECONDS = 3 * 86_400
INSTALL_SECONDS = 120.0
START_SECONDS = 60.0
STOP_SECONDS = 120.0
STATEMENT_SECONDS = 1800
LOGS = (CONSOLE,)
FORM = 2
"""Of the seed; goes up when the same data is kept in another way."""
BUILDING_BYTES = 192 << 20
"""An empty data folder with its logs, and some data; a large scale needs more."""
LOAD_BUFFER_POOL = 512 << 20


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/tierlab/mariadb``, by default below ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tierlab" / "mariadb"


def seed_folder(environment: Environment, loader: Loader, database: str) -> Path:
    """Return the cached folder with this loader's data in `database`, made if it is not there."""
    folder = cache_folder() / f"{loader.key}-{_version()}-{FORM}"
    if folder.exists():
        os.utime(folder)
        return folder
    _prune()
    need_room(environment.work, BUILDING_BYTES, "making the seed data")
    domain = environment.create_here(DomainSpec("seed"))
    domain.start()
    try:
        _build(domain, loader, database)
        _keep(environment, domain.folder / DATA, folder)
    finally:
        domain.destroy()
    return folder


def _prune() -> None:
    """Throw away seeds that no trial has used for days: data is dated, so they never fit again."""
    oldest = time.time() - KEPT_SECONDS
    for folder in cache_folder().glob("*"):
        with suppress(FileNotFoundError):  # another trial prunes at the same time
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)


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
            )
        except pymysql.MySQLError as error:
            if server.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
                continue
            raise UserError(
                f"the seed's mariadbd did not start ({error.args[-1]}){_why(domain)}"
            ) from error


def _keep(environment: Environment, data: Path, folder: Path) -> None:
    """Move the data into the cache, complete or not at all."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{folder.parent}: cannot keep seed data there ({error.strerror}); set XDG_CACHE_HOME."
        ) from error
    with environment.scratch(folder.with_name(f".{folder.name}.{environment.trial}")) as partial:
        need_room(partial, size(data), "keeping the seed data")
        copy_tree(data, partial / DATA)
        for name in ("mysqld.pid", SOCKET):
            (partial / DATA / name).unlink(missing_ok=True)
        try:
            (partial / DATA).rename(folder)
            os.utime(folder)
        except OSError:
            if not folder.exists():  # else another trial was quicker with the same data
                raise
            shutil.rmtree(partial / DATA)
