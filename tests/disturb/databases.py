"""Databases to disturb, each with a table of ten rows."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pymysql
from pg8000 import dbapi

from tests.disturb.conftest import Domain
from tests.pace import wait_until
from tests.rubis.private_postgresql import PrivatePostgreSQL, private_postgresql

TABLE = {"table": "stories"}
MAKES_TABLE = (
    "CREATE TABLE stories (id INT PRIMARY KEY, n INT)",
    f"INSERT INTO stories VALUES {', '.join(f'({id}, 0)' for id in range(1, 11))}",
)
NAME = "tested"


class Database(Protocol):
    """One that can be used by a driver of the Python DB API, and disturbed."""

    most_connections: int
    kept_bytes: int
    """What may stay in its buffer pool when that is emptied."""

    @property
    def login(self) -> dict[str, Any]:
        """The plan's keys for it."""

    def connect(self) -> Any:
        """A connection that commits each statement."""

    def is_open(self) -> bool:
        """Whether it takes one client more."""

    def written_bytes(self) -> int:
        """Of changed pages, so far."""

    def pool_bytes(self) -> int:
        """Room of its buffer pool."""

    def reader(self, connection: Any) -> int:
        """The process that reads what this connection asks for."""


@dataclass
class MariaDB:
    """A MariaDB in a domain."""

    socket: str
    most_connections = 20
    kept_bytes = 6 << 20
    """A pool is not made smaller."""

    @property
    def login(self) -> dict[str, Any]:
        where = {"protocol": "mysql", "socket": self.socket}
        return where | {"user": "root", "database": NAME}

    def connect(self, database: str | None = NAME) -> Any:
        return pymysql.connect(
            unix_socket=self.socket, user="root", database=database, autocommit=True
        )

    def is_up(self) -> bool:
        try:
            self.connect(None).close()
        except pymysql.OperationalError:
            return False
        return True

    def is_open(self) -> bool:
        try:
            self.connect().close()
        except pymysql.OperationalError as refusal:
            if refusal.args[1] == "Too many connections":
                return False
            raise
        return True

    def written_bytes(self) -> int:
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_flushed'")
            ((_, pages),) = cursor.fetchall()
        return int(pages) * 16384

    def pool_bytes(self) -> int:
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT @@innodb_buffer_pool_size")
            ((size,),) = cursor.fetchall()
        return int(size)

    def reader(self, connection: Any) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT @@pid_file")
            ((file,),) = cursor.fetchall()
        return int((Path(self.socket).parent / file).read_text())


@dataclass
class PostgreSQL:
    """A PostgreSQL; its domain knows nothing of it."""

    server: PrivatePostgreSQL
    most_connections = 20
    """Few: it starts a process for each."""
    kept_bytes = 0

    @property
    def login(self) -> dict[str, Any]:
        where = {"protocol": "postgresql", "socket": self.server.socket}
        return where | {"user": "postgres", "database": NAME}

    def connect(self) -> Any:
        connection = dbapi.connect("postgres", unix_sock=self.server.socket, database=NAME)
        connection.autocommit = True
        return connection

    def is_open(self) -> bool:
        try:
            self.connect().close()
        except dbapi.Error:
            # The driver may still be writing when it is turned away, and hear nothing of it.
            if "sorry, too many clients already" in self.server.log.read_text():
                return False
            raise
        return True

    def written_bytes(self) -> int:
        with closing(self.connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute("SELECT buffers_checkpoint FROM pg_stat_bgwriter")
            ((pages,),) = cursor.fetchall()
        return int(pages) * 8192

    def pool_bytes(self) -> int:
        with closing(self.connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute("SELECT pg_size_bytes(current_setting('shared_buffers'))")
            ((size,),) = cursor.fetchall()
        return int(size)

    def reader(self, connection: Any) -> int:
        with closing(connection.cursor()) as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            ((pid,),) = cursor.fetchall()
        return int(pid)


@contextmanager
def mariadb(domain: Domain) -> Iterator[MariaDB]:
    """The program is a copy, so that the domain pays for its pages when it reads them."""
    found = shutil.which("mariadbd")
    assert found is not None
    program = domain.folder / "server"
    shutil.copy(found, program)
    # Written pages are dropped from the cache, and charged to who reads them first.
    subprocess.run(["sync", program], check=True)
    subprocess.run(["dd", f"if={program}", "iflag=nocache", "count=0", "status=none"], check=True)
    server = MariaDB(str(domain.folder / "data" / "mysqld.sock"))
    kept = ["--user=root", "--innodb-log-file-size=8M", f"--datadir={domain.folder / 'data'}"]
    install = ["mariadb-install-db", "--no-defaults", *kept]
    subprocess.run(
        [*install, "--auth-root-authentication-method=normal"], check=True, capture_output=True
    )
    options = [
        *kept,
        "--socket=mysqld.sock",
        "--skip-networking",
        "--innodb-buffer-pool-size=32M",
        f"--max-connections={server.most_connections}",
        "--performance-schema=OFF",
    ]
    with (domain.folder / "log").open("wb") as log:
        process = domain.start(str(program), "--no-defaults", *options, stdout=log, stderr=log)
    try:
        wait_until(server.is_up, "the database's start", 60)
        with server.connect(None) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {NAME}")
            cursor.execute("CREATE ROLE buffer_pool_admin")
            cursor.execute("GRANT SUPER ON *.* TO buffer_pool_admin")
        _make_table(server)
        yield server
    finally:
        # pytest may come back to it after another database, in the same domain.
        process.kill()
        process.wait()
        shutil.rmtree(domain.folder / "data")


@contextmanager
def postgresql(_: Domain) -> Iterator[PostgreSQL]:
    """A private one; it refuses to be root's, as what is in a domain is."""
    settings = {"max_connections": str(PostgreSQL.most_connections), "shared_buffers": "16MB"}
    with private_postgresql(NAME, **settings) as private:
        with closing(private.connect()) as own:
            own.run(f"CREATE DATABASE {NAME}")
        server = PostgreSQL(private)
        _make_table(server)
        yield server


def _make_table(server: Database) -> None:
    with closing(server.connect()) as connection, closing(connection.cursor()) as cursor:
        for statement in MAKES_TABLE:
            cursor.execute(statement)


KINDS = {"mariadb": mariadb, "postgresql": postgresql}
