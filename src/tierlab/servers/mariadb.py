"""MariaDB as the database tier: one server, or one node of a Galera cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pymysql

from tierlab.environments.environment import Environment
from tierlab.errors import UserError
from tierlab.servers.base import NotReadyError, Server, Settings
from tierlab.servers.content import Content
from tierlab.servers.disk import need_room, size
from tierlab.servers.greetings import mysql_login
from tierlab.servers.mariadb_options import DATA, SOCKET, TMP, common_options, option_file
from tierlab.servers.mariadb_seed import MariaDBSeed
from tierlab.servers.seed import seed_folder
from tierlab.servers.soft import SoftResource, backlog, declared
from tierlab.values.kinds import Size, Whole
from tierlab.values.quantities import MIB

ACCOUNTS = "accounts.sql"
POOL_ROLE = "buffer_pool_admin"
"""The agent knows it by this name."""

WORKING_BYTES = 32 << 20
"""For temporary tables and what a trial writes."""

PROVIDER = Path("/usr/lib/galera/libgalera_smm.so")
REPLICATION_PORT = 4567
INCREMENTAL_PORT = 4568
SNAPSHOT_PORT = 4444
SNAPSHOT_PROGRAMS = {"wsrep_sst_rsync": "mariadb-server", "rsync": "rsync"}
"""What a node that joins gets its data with, and the packages that bring it."""


class MariaDB(Server):
    """One mariadbd on a copy of the seed data."""

    kind = "mariadb"
    programs: ClassVar[Mapping[str, str]] = {
        "mariadbd": "mariadb-server-core",
        "mariadb-install-db": "mariadb-server-core",
    }
    ports: ClassVar[Mapping[str, int]] = {"mysql": 3306}
    soft_resources = declared(
        SoftResource(
            "max_connections",
            Whole(10, 100_000),
            300,
            "max_connections",
            "connections open at once",
        ),
        backlog(128, "back_log"),
        SoftResource(
            "buffer_pool",
            Size("5MiB", "1TiB"),
            128 * MIB,
            "innodb_buffer_pool_size",
            "memory for InnoDB's pages",
        ),
    )
    holdable = ("max_connections",)
    is_database = True
    locks_rows = True
    checkpoints = True
    empties_cache = True
    replicates = True
    cluster_programs = SNAPSHOT_PROGRAMS
    cluster_files: ClassVar[Mapping[Path, str]] = {PROVIDER: "galera-4"}
    socket = f"{DATA}/{SOCKET}"
    stop_seconds = 30.0
    disk = (DATA, TMP)

    @classmethod
    def room(cls, settings: Settings) -> int:
        """Besides its pages."""
        return settings.soft["buffer_pool"] + 128 * MIB

    @classmethod
    def make_data(cls, environment: Environment, content: Content) -> Path | None:
        """The seed: a data folder with the workload's tables."""
        return seed_folder(environment, MariaDBSeed(), content)

    @property
    def _clustered(self) -> bool:
        return len(self.site.tier) > 1

    @property
    def _founds(self) -> bool:
        """Whether it is the first node of its cluster."""
        return self.site.tier[:1] == (self.site.endpoint,)

    def render(self) -> dict[str, str]:
        """my.cnf."""
        endpoint, soft = self.site.endpoint, self.soft
        options = {
            **common_options(self.site.folder / DATA),
            # By its whole path, once others are told of it: so the kernel lists it, and not by
            # the name that all servers of this kind have in their own folders.
            **({"socket": endpoint.socket} if endpoint.socket is not None else {}),
            "bind-address": endpoint.address,
            "port": endpoint.port,
            "max_connections": soft["max_connections"],
            "back_log": soft["backlog"],
            "innodb_buffer_pool_size": soft["buffer_pool"],
            **({"init_file": str(self.site.folder / ACCOUNTS)} if self._makes_accounts else {}),
            **(self._galera() if self._clustered else {}),
        }
        return {"my.cnf": option_file(options)}

    def _galera(self) -> dict[str, str | int]:
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
            "wsrep_cluster_address": "gcomm://" + ",".join(node.address for node in self.site.tier),
            "wsrep_node_name": self.site.subject,
            "wsrep_node_address": address,
            "wsrep_sst_method": "rsync",
            "wsrep_sst_receive_address": f"{address}:{SNAPSHOT_PORT}",
            "binlog_format": "ROW",
            "innodb_autoinc_lock_mode": 2,
        }

    def prepare(self) -> None:
        """A copy of the seed data."""
        seed = self.site.data
        assert seed is not None
        need_room(self.site.folder, size(seed) + WORKING_BYTES, "a copy of the seed data")
        self.site.domain.put(seed, DATA)
        self.site.domain.make_folder(TMP)
        self.site.domain.make_folder("logs")
        if self._makes_accounts:
            self.site.domain.write(ACCOUNTS, self._accounts())

    @property
    def _makes_accounts(self) -> bool:
        """A node that joins a cluster gets them with its data."""
        return not self._clustered or self._founds

    def _accounts(self) -> str:
        """What the server does as it starts: the seed has no accounts."""
        login = self.content.credentials
        user = f"'{login.user}'@'%'"
        return (
            f"CREATE OR REPLACE USER {user} IDENTIFIED BY '{login.password}';\n"
            f"GRANT ALL ON `{login.database}`.* TO {user};\n"
            # So that the agent can have a table's pages written.
            f"GRANT RELOAD ON *.* TO {user};\n"
            # So that the agent can resize the buffer pool: only who takes the role may do anything.
            f"CREATE OR REPLACE ROLE {POOL_ROLE} WITH ADMIN {user};\n"
            f"GRANT SUPER ON *.* TO {POOL_ROLE};\n"
        )

    def command(self) -> list[str]:
        """With this option file only."""
        founding = ["--wsrep-new-cluster"] if self._clustered and self._founds else []
        return ["mariadbd", f"--defaults-file={self.site.folder}/my.cnf", *founding]

    def own_program(self, program: Path) -> Path:
        """A copy: the servers of a tier, and of other trials, are the same program."""
        need_room(self.site.folder, program.stat().st_size, "a copy of its program")
        return self.site.domain.put(program, program.name)

    def last_words(self) -> dict[str, str]:
        """The server's own counters since its start, a tab-separated line each."""
        login = self.content.credentials
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
        login = self.content.credentials
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
        if self._clustered and (state is None or state[1] != "Synced"):
            raise NotReadyError(f"the node is {state[1] if state else 'not in a cluster'}")
        if limit is not None and limit[0] != self.soft["max_connections"]:
            raise UserError(
                f"{self.site.subject}: max_connections {self.soft['max_connections']} asked,"
                f" {limit[0]} in force; the limit of open files allows no more."
            )
