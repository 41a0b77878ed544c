"""MariaDB as the database tier: one server, or one node of a Galera cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pymysql

from tierlab.errors import UserError
from tierlab.servers.base import NotReadyError, Server, Site
from tierlab.servers.database import Credentials
from tierlab.servers.disk import need_room, size
from tierlab.servers.greetings import mysql_login
from tierlab.servers.programs import check_programs

DATA = "data"
TMP = "tmp"
SOCKET = "mysqld.sock"
"""Relative to the data folder: a socket's path must stay below 108 bytes."""
ACCOUNTS = "accounts.sql"
REDO_LOG_BYTES = 32 << 20
"""Small, because every instance gets a copy."""

WORKING_BYTES = 32 << 20
"""For temporary tables and what a trial writes."""

PROVIDER = Path("/usr/lib/galera/libgalera_smm.so")
REPLICATION_PORT = 4567
INCREMENTAL_PORT = 4568
SNAPSHOT_PORT = 4444
SNAPSHOT_PROGRAMS = {"wsrep_sst_rsync": "mariadb-server", "rsync": "rsync"}
"""What a node that joins gets its data with, and the packages that bring it."""


@dataclass(frozen=True)
class Cluster:
    """A Galera cluster, as one of its nodes sees it; `founds` on the first to start."""

    addresses: Sequence[str]
    founds: bool


class MariaDB(Server):
    """One mariadbd on a copy of the seed data."""

    kind = "mariadb"
    programs: ClassVar[Mapping[str, str]] = {
        "mariadbd": "mariadb-server-core",
        "mariadb-install-db": "mariadb-server-core",
    }
    stop_seconds = 30.0
    disk = (DATA, TMP)

    def __init__(
        self,
        site: Site,
        soft: Mapping[str, int],
        *,
        seed: Path,
        credentials: Credentials,
        cluster: Cluster | None = None,
    ) -> None:
        super().__init__(site, soft)
        self._seed = seed
        self._credentials = credentials
        self._cluster = cluster

    def render(self) -> dict[str, str]:
        """my.cnf."""
        endpoint, soft = self.site.endpoint, self.soft
        options = {
            **common_options(self.site.folder / DATA),
            "bind-address": endpoint.address,
            "port": endpoint.port,
            "max_connections": soft["max_connections"],
            "back_log": soft["backlog"],
            "innodb_buffer_pool_size": soft["buffer_pool"],
            **({"init_file": str(self.site.folder / ACCOUNTS)} if self._makes_accounts else {}),
            **({} if self._cluster is None else self._galera(self._cluster)),
        }
        return {"my.cnf": option_file(options)}

    def _galera(self, cluster: Cluster) -> dict[str, str | int]:
        address = self.site.endpoint.address
        provider_options = {
            "gmcast.listen_addr": f"tcp://{address}:{REPLICATION_PORT}",
            "ist.recv_addr": f"{address}:{INCREMENTAL_PORT}",
            "ist.recv_bind": address,
            # All nodes share the machine's PUs: a stall must not split the cluster.
            "evs.suspect_timeout": "PT30S",
            "evs.inactive_timeout": "PT60S",
            "evs.install_timeout": "PT30S",
            "gcache.size": "32M",
        }
        return {
            "wsrep_on": "ON",
            "wsrep_provider": str(PROVIDER),
            "wsrep_provider_options": "; ".join(f"{k}={v}" for k, v in provider_options.items()),
            "wsrep_cluster_name": "tierlab",
            "wsrep_cluster_address": "gcomm://" + ",".join(cluster.addresses),
            "wsrep_node_name": self.site.subject,
            "wsrep_node_address": address,
            "wsrep_sst_method": "rsync",
            "wsrep_sst_receive_address": f"{address}:{SNAPSHOT_PORT}",
            "binlog_format": "ROW",
            "innodb_autoinc_lock_mode": 2,
        }

    def prepare(self) -> None:
        """A copy of the seed data."""
        if self._cluster is not None:
            check_galera()
        need_room(self.site.folder, size(self._seed) + WORKING_BYTES, "a copy of the seed data")
        self.site.domain.put(self._seed, DATA)
        self.site.domain.make_folder(TMP)
        self.site.domain.make_folder("logs")
        if self._makes_accounts:
            self.site.domain.write(ACCOUNTS, self._accounts())

    @property
    def _makes_accounts(self) -> bool:
        """A node that joins a cluster gets them with its data."""
        return self._cluster is None or self._cluster.founds

    def _accounts(self) -> str:
        """What the server does as it starts: the seed has no accounts."""
        login = self._credentials
        user = f"'{login.user}'@'%'"
        return (
            f"CREATE OR REPLACE USER {user} IDENTIFIED BY '{login.password}';\n"
            f"GRANT ALL ON `{login.database}`.* TO {user};\n"
        )

    def command(self) -> list[str]:
        """With this option file only."""
        founding = ["--wsrep-new-cluster"] if self._cluster and self._cluster.founds else []
        return ["mariadbd", f"--defaults-file={self.site.folder}/my.cnf", *founding]

    def own_program(self, program: Path) -> Path:
        """A copy: the servers of a tier, and of other trials, are the same program."""
        need_room(self.site.folder, program.stat().st_size, "a copy of its program")
        return self.site.domain.put(program, program.name)

    def last_words(self) -> dict[str, str]:
        """The server's own counters since its start, a tab-separated line each."""
        login = self._credentials
        with (
            mysql_login(
                self.site.connect(), login.user, login.password, login.database
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SHOW GLOBAL STATUS")
            lines = [f"{name}\t{value}\n" for name, value in cursor.fetchall()]
        return {"logs/status.tsv": "".join(lines)}

    def greet(self) -> None:
        """A statement; in a cluster, the node's word that it has caught up."""
        login = self._credentials
        link = self.site.connect()
        with mysql_login(link, login.user, login.password, login.database) as connection:
            try:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT @@max_connections")
                    limit = cursor.fetchone()
                    cursor.execute("SHOW STATUS LIKE 'wsrep_local_state_comment'")
                    state = cursor.fetchone()
            except pymysql.MySQLError as error:
                raise NotReadyError(f"a statement fails: {error.args[-1]}") from error
        if self._cluster is not None and (state is None or state[1] != "Synced"):
            raise NotReadyError(f"the node is {state[1] if state else 'not in a cluster'}")
        if limit is not None and limit[0] != self.soft["max_connections"]:
            raise UserError(
                f"{self.site.subject}: max_connections {self.soft['max_connections']} asked,"
                f" {limit[0]} in force; the limit of open files allows no more."
            )


def check_galera() -> None:
    """Raise `UserError` if what a cluster needs besides the server is missing."""
    if not PROVIDER.exists():
        raise UserError(f"{PROVIDER} is missing; install it with 'apt-get install galera-4'.")
    check_programs(SNAPSHOT_PROGRAMS)


def common_options(data: Path) -> dict[str, str | int]:
    """What the seed's server and a trial's servers have in common."""
    return {
        "datadir": str(data),
        "socket": SOCKET,
        "pid-file": "mysqld.pid",
        "tmpdir": str(data.parent / TMP),
        "skip-name-resolve": 1,
        "skip-log-bin": 1,
        "performance_schema": "OFF",
        # From MariaDB 11.4 on, TLS is the default; here the wire must be readable.
        "ssl": "OFF",
        "character-set-server": "utf8mb4",
        "innodb_log_file_size": REDO_LOG_BYTES,
        # Ends of connections are none of the log's business.
        "log_warnings": 1,
    }


def option_file(options: Mapping[str, str | int]) -> str:
    """Write an option file for the server."""
    lines = [f"{name} = {_quoted(value)}" for name, value in options.items()]
    return "\n".join(["[mariadbd]", *lines]) + "\n"


def _quoted(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) and (";" in value or " " in value) else str(value)
