"""A private PostgreSQL in a folder of its own, for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pg8000 import dbapi
from pg8000.exceptions import Error
from pg8000.native import Connection

from tests.rubbos.private_mariadb import PATIENCE_SECONDS, free_port

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
ACCOUNT: dict[str, Any] = (
    {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
)
"""The server refuses to be root's."""
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "64MB",
    "log_line_prefix": "%d ",
}


@dataclass(frozen=True)
class PrivatePostgreSQL:
    folder: Path
    port: int
    name: str
    """The database of the application."""
    programs: Path = PROGRAMS

    @property
    def socket(self) -> str:
        return f"{self.folder}/.s.PGSQL.{self.port}"

    def connect(self, database: str = "postgres") -> Connection:
        return Connection("postgres", unix_sock=self.socket, database=database)

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """What the database says, past the application."""
        connection = dbapi.connect("postgres", unix_sock=self.socket, database=self.name)
        with closing(connection):
            connection.autocommit = True
            cursor = connection.cursor()
            cursor.execute(sql, parameters)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    def value(self, sql: str, *parameters: object) -> Any:
        (row,) = self.rows(sql, *parameters)
        return row[0]

    @property
    def log(self) -> Path:
        return self.folder / "log"


@contextmanager
def private_postgresql(
    name: str, archive: Path | None = None, **settings: str
) -> Iterator[PrivatePostgreSQL]:
    """`settings` are the server's own, beside those that all tests have; an `archive` has the
    programs of another version than Debian's.
    """
    # pytest's own folders are closed to the account that the server runs as.
    folder = Path(tempfile.mkdtemp(prefix="tierlab-pg-"))
    try:
        if ACCOUNT:
            shutil.chown(folder, ACCOUNT["user"], ACCOUNT["group"])
        programs = PROGRAMS if archive is None else _unpacked(archive, folder / "programs")
        server = PrivatePostgreSQL(folder, free_port(), name, programs)
        with _running(server, SETTINGS | settings):
            yield server
    finally:
        shutil.rmtree(folder)


def _unpacked(archive: Path, folder: Path) -> Path:
    """Below the server's own folder: whom it runs as may not read a checkout."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "bin"


@contextmanager
def _running(server: PrivatePostgreSQL, settings: Mapping[str, str]) -> Iterator[None]:
    data = server.folder / "data"
    subprocess.run(
        [
            *(server.programs / "initdb", "-D", data, "-U", "postgres"),
            *("--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"),
            *("--encoding=UTF8", "--locale=C"),
        ],
        check=True,
        capture_output=True,
        cwd=server.folder,
        **ACCOUNT,
    )
    own = {"port": str(server.port), "unix_socket_directories": str(server.folder)}
    options = [f"-c{key}={value}" for key, value in {**settings, **own}.items()]
    with server.log.open("wb") as log:
        process = subprocess.Popen(
            [server.programs / "postgres", "-D", data, *options],
            stdout=log,
            stderr=log,
            cwd=server.folder,
            **ACCOUNT,
        )
    try:
        _await(server, process)
        yield
    finally:
        # SIGINT: "fast", which waits for no client.
        process.send_signal(2)
        process.wait(PATIENCE_SECONDS)


def _await(server: PrivatePostgreSQL, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            server.connect().close()
            return
        except (Error, OSError):
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
