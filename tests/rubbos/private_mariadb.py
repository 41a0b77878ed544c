"""A private MariaDB in a folder of its own, for tests."""

from __future__ import annotations

import getpass
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

PATIENCE_SECONDS = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class PrivateMariaDB:
    folder: Path
    port: int
    name: str
    """The database of the application."""

    @property
    def jdbc_url(self) -> str:
        return f"jdbc:mariadb://127.0.0.1:{self.port}/{self.name}?sslMode=disable"

    def connect(self, **more: Any) -> Connection[Cursor]:
        return pymysql.connect(
            unix_socket=str(self.folder / "s"),
            user="root",
            autocommit=True,
            local_infile=True,
            **more,
        )

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """What the database says, past the application."""
        with self.connect(database=self.name) as connection, connection.cursor() as cursor:
            cursor.execute(sql, parameters or None)
            return list(cursor.fetchall())

    def value(self, sql: str, *parameters: object) -> Any:
        (row,) = self.rows(sql, *parameters)
        return row[0]


@contextmanager
def private_mariadb(folder: Path, name: str = "rubbos") -> Iterator[PrivateMariaDB]:
    server = PrivateMariaDB(folder, free_port(), name)
    (folder / "my.cnf").write_text(
        "[mariadbd]\n"
        f"datadir={folder}/data\nsocket={folder}/s\npid-file={folder}/pid\n"
        f"bind-address=127.0.0.1\nport={server.port}\nskip-name-resolve\n"
        "innodb_log_file_size=16M\ninnodb_flush_log_at_trx_commit=2\n"
        # Nothing is kept beyond a test.
        "innodb_doublewrite=OFF\ninnodb_flush_method=nosync\n"
    )
    defaults = f"--defaults-file={folder}/my.cnf"
    user = f"--user={getpass.getuser()}"
    subprocess.run(
        [
            *("mariadb-install-db", defaults, user),
            *("--auth-root-authentication-method=normal", "--skip-test-db"),
        ],
        check=True,
        capture_output=True,
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(["mariadbd", defaults, user], stdout=log, stderr=log)
    try:
        _await(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def _await(server: PrivateMariaDB, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            server.connect().close()
            return
        except pymysql.MySQLError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
