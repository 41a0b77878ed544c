"""PostgreSQL as the database tier: one server on a copy of the seed data."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pg8000.exceptions import Error
from pg8000.native import identifier, literal

from tierlab.environments.environment import Environment
from tierlab.errors import UserError
from tierlab.servers.base import CONSOLE, Server, Settings
from tierlab.servers.content import Content
from tierlab.servers.disk import need_room, size
from tierlab.servers.failure import why
from tierlab.servers.greetings import postgresql_login, postgresql_select
from tierlab.servers.postgresql_options import (
    ACCESS,
    BUFFER_BLOCK,
    CONFIGURATION,
    DATA,
    OWNER,
    common_settings,
    configuration,
)
from tierlab.servers.postgresql_seed import PostgreSQLSeed
from tierlab.servers.programs import find_program
from tierlab.servers.seed import seed_folder
from tierlab.servers.soft import SoftResource, declared
from tierlab.values.kinds import Size, Whole
from tierlab.values.quantities import MIB

ACCOUNTS = "accounts.sql"
WORKING_BYTES = 64 << 20
"""For the write-ahead log, temporary files and what a trial writes."""
ACCOUNT_SECONDS = 60.0
KIB = 1024
LEAST_WORKER_PROCESSES = 8
"""As many as by default: its own helpers are of them too."""


class PostgreSQL(Server):
    """One postmaster with a process for each connection."""

    kind = "postgresql"
    programs: ClassVar[Mapping[str, str]] = {
        "postgres": "postgresql",
        "initdb": "postgresql",
    }
    ports: ClassVar[Mapping[str, int]] = {"postgresql": 5432}
    soft_resources = declared(
        SoftResource(
            "max_connections",
            Whole(10, 10_000),
            300,
            "max_connections",
            "connections open at once; twice as many may wait to be accepted",
        ),
        SoftResource(
            "buffer_pool",
            Size("1MiB", "1TiB", step="1MiB"),
            128 * MIB,
            "shared_buffers",
            "memory for pages that all connections share",
        ),
        SoftResource(
            "work_memory",
            Size("64KiB", "1TiB", step="1KiB"),
            4 * MIB,
            "work_mem",
            "memory of each sort and each hash table of a statement, before it goes to files",
        ),
        SoftResource(
            "workers",
            Whole(0, 1024),
            8,
            "max_parallel_workers",
            "processes that help connections with statements, of all at once",
        ),
        SoftResource(
            "statement_workers",
            Whole(0, 1024),
            2,
            "max_parallel_workers_per_gather",
            "the most of them that help with one part of one statement",
        ),
    )
    holdable = ("max_connections",)
    is_database = True
    locks_rows = True
    checkpoints = True
    empties_cache = True
    socket = f"{DATA}/.s.PGSQL.{ports['postgresql']}"
    # Fast: connections are ended, not waited for.
    stop_signal = signal.SIGINT
    stop_seconds = 30.0
    disk = (DATA,)

    @classmethod
    def room(cls, settings: Settings) -> int:
        """Besides its pages: some 2 MiB for each connection that has worked."""
        return settings.soft["buffer_pool"] + 256 * MIB

    @classmethod
    def make_data(cls, environment: Environment, content: Content) -> Path | None:
        """The seed: a data folder with the workload's tables."""
        return seed_folder(environment, PostgreSQLSeed(), content)

    def render(self) -> dict[str, str]:
        """postgresql.conf and pg_hba.conf."""
        endpoint, soft = self.site.endpoint, self.soft
        settings = {
            **common_settings(self.site.folder),
            "listen_addresses": endpoint.address,
            "port": endpoint.port,
            "max_connections": soft["max_connections"],
            "superuser_reserved_connections": 0,
            "shared_buffers": soft["buffer_pool"] // BUFFER_BLOCK,
            "work_mem": soft["work_memory"] // KIB,
            "max_worker_processes": max(soft["workers"], LEAST_WORKER_PROCESSES),
            "max_parallel_workers": soft["workers"],
            "max_parallel_workers_per_gather": soft["statement_workers"],
        }
        user = identifier(self.content.credentials.user)
        access = "".join(
            f"{kind} all {user} {where}scram-sha-256\n"
            for kind, where in (("local", ""), ("host", "0.0.0.0/0 "))
        )
        return {CONFIGURATION: configuration(settings), ACCESS: access}

    def prepare(self) -> None:
        """A copy of the seed data, whose role may log in from now on."""
        seed, domain = self.site.data, self.site.domain
        assert seed is not None
        need_room(self.site.folder, size(seed) + WORKING_BYTES, "a copy of the seed data")
        domain.put(seed, DATA)
        domain.make_folder("logs")
        domain.write(ACCOUNTS, self._accounts())
        # Alone and without network, before anybody could log in.
        alone = f'exec "$1" --single -c config_file="$2" {OWNER} <"$3"'
        files = [str(self.site.folder / name) for name in (CONFIGURATION, ACCOUNTS)]
        said = domain.run(
            ["sh", "-c", alone, "sh", find_program("postgres"), *files], timeout=ACCOUNT_SECONDS
        )
        if said.status != 0 or "ERROR" in said.stderr:
            domain.write(CONSOLE, said.stderr)
            reason = why(domain.folder, [said.stderr])
            raise UserError(f"{self.site.subject}: its account could not be made{reason}")

    def _accounts(self) -> str:
        login = self.content.credentials
        role = identifier(login.user)
        return (
            f"ALTER ROLE {role} LOGIN PASSWORD {literal(login.password)};\n"
            f"GRANT pg_read_all_stats TO {role};\n"
            # So that the agent can have one done.
            f"GRANT pg_checkpoint TO {role};\n"
            # So that the agent keeps its own statements out of those that are counted.
            f"GRANT SET ON PARAMETER pg_stat_statements.track TO {role};\n"
        )

    def command(self) -> list[str]:
        """With this configuration only."""
        return ["postgres", "-c", f"config_file={self.site.folder / CONFIGURATION}"]

    def last_words(self) -> dict[str, str]:
        """How often each statement ran since its start, a tab-separated line each."""
        login = self.content.credentials
        connection = postgresql_login(
            self.site.connect(), login.user, login.password, login.database
        )
        try:
            rows = connection.run(
                "SELECT calls, regexp_replace(query, '\\s+', ' ', 'g') FROM pg_stat_statements"
                " JOIN pg_database ON pg_database.oid = dbid"
                # Not the sampler's, which is in another database.
                " WHERE toplevel AND datname = current_database() ORDER BY calls DESC"
            )
        except Error:
            return {}
        finally:
            connection.close()
        lines = [f"{calls}\t{query}\n" for calls, query in rows or ()]
        return {"logs/statements.tsv": "".join(lines)}

    def greet(self) -> None:
        """A statement."""
        login = self.content.credentials
        postgresql_select(self.site.connect, login.user, login.password, login.database)
