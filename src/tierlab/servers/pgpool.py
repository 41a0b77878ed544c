"""pgpool-II between applications and several PostgreSQL servers: a statement that reads goes to
one of them, one that writes to all (native replication).
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import ClassVar

from tierlab.servers.base import Server, Settings
from tierlab.servers.greetings import postgresql_select
from tierlab.servers.postgresql_options import configuration
from tierlab.servers.soft import SoftResource, declared
from tierlab.values.kinds import Whole
from tierlab.values.quantities import MIB

ACCESS, PASSWORDS, COMMANDS = "pool_hba.conf", "pool_passwd", "pcp.conf"


class Pgpool(Server):
    """One pgpool-II: a process for each connection of an application's, and a connection of its own
    to every database.
    """

    kind = "pgpool"
    programs: ClassVar[Mapping[str, str]] = {"pgpool": "pgpool2"}
    ports: ClassVar[Mapping[str, int]] = {"postgresql": 5432}
    calls = ("postgresql",)
    soft_resources = declared(
        SoftResource(
            "max_connections",
            Whole(1, 10_000),
            96,
            "num_init_children",
            "applications' connections open at once, a process for each; twice as many may wait",
        ),
        SoftResource(
            "pool",
            Whole(1, 100),
            1,
            "max_pool",
            "connections to each database that a process keeps, one for each user and database",
        ),
    )
    replicates = True
    # Fast: connections are ended, not waited for.
    stop_signal = signal.SIGINT
    stop_seconds = 30.0

    @classmethod
    def room(cls, settings: Settings) -> int:
        """Some 5 MiB for each process, and what they share."""
        return settings.soft["max_connections"] * 5 * MIB + 192 * MIB

    def render(self) -> dict[str, str]:
        """pgpool.conf, who may log in, and with what."""
        folder, endpoint, soft = self.site.folder, self.site.endpoint, self.soft
        login = self.content.credentials
        settings: dict[str, str | int] = {
            "backend_clustering_mode": "native_replication",
            "listen_addresses": endpoint.address,
            "port": endpoint.port,
            "socket_dir": str(folder / "run"),
            "pcp_listen_addresses": "",
            "pcp_socket_dir": str(folder / "run"),
            "pid_file_name": str(folder / "run/pgpool.pid"),
            "logdir": str(folder / "run"),
            "work_dir": str(folder / "run"),
            "num_init_children": soft["max_connections"],
            "max_pool": soft["pool"],
            "child_life_time": 0,
            "load_balance_mode": "on",
            "statement_level_load_balance": "on",
            # A request's id is in a comment before each statement, which may read on any.
            "allow_sql_comments": "on",
            # Numbers that a table gives itself are the same everywhere.
            "insert_lock": "on",
            "enable_pool_hba": "on",
            "pool_passwd": PASSWORDS,
            # Checks of its own would be counted among the applications' statements.
            "health_check_period": 0,
            "sr_check_period": 0,
            "ssl": "off",
        }
        for number, database in enumerate(self.site.upstreams):
            settings |= {
                f"backend_hostname{number}": database.address,
                f"backend_port{number}": database.port,
                f"backend_weight{number}": 1,
                f"backend_flag{number}": "DISALLOW_TO_FAILOVER",
            }
        return {
            "pgpool.conf": configuration(settings),
            ACCESS: f"host all {login.user} 0.0.0.0/0 scram-sha-256\n",
            PASSWORDS: f"{login.user}:TEXT{login.password}\n",
            COMMANDS: "",
        }

    def prepare(self) -> None:
        """Folders for its own run-time files."""
        self.site.domain.make_folder("run")
        self.site.domain.make_folder("logs")

    def command(self) -> list[str]:
        """Stay in the foreground with these files only."""
        folder = self.site.folder
        files = {"-f": "pgpool.conf", "-a": ACCESS, "-F": COMMANDS}
        options = [word for key, name in files.items() for word in (key, f"{folder}/{name}")]
        return ["pgpool", "-n", "-D", *options]

    def greet(self) -> None:
        """A statement through it."""
        login = self.content.credentials
        postgresql_select(self.site.connect, login.user, login.password, login.database)
