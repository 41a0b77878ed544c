"""A native trial under way, as an administrator of its servers reaches it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tierlab.environments.cgroups.cgroup import Hierarchy, trial_group
from tierlab.environments.cgroups.find import find_hierarchy
from tierlab.environments.native.host import WORK_ROOT
from tierlab.tables import manifest as manifests

LONGEST_S = 60.0
"""The longest that one command may take."""

CUT_OFF = 124
"""The status of timeout(1) that ended a command."""

MARIADB_LOGIN = re.compile(r"USER '([^']+)'@'%' IDENTIFIED BY '([^']+)'")
POSTGRESQL_LOGIN = re.compile(r"ROLE \"?([^\" ]+)\"? LOGIN PASSWORD '([^']+)'")
"""In what either is told before it starts."""


@dataclass(frozen=True)
class Access:
    """The servers of the trial of that name on the host, which writes to ``run_folder``."""

    trial: str
    run_folder: Path

    def folder(self, server: str) -> Path:
        """The server's folder."""
        return WORK_ROOT / f"tierlab-{self.trial}" / server

    def address(self, server: str) -> str:
        """Where the server listens."""
        return manifests.read(self.run_folder).servers[server].address

    def pids(self, server: str) -> list[int]:
        """Its processes, in order of their numbers."""
        found = {
            int(line)
            for group in self._groups(server)
            for line in (group / "cgroup.procs").read_text().split()
        }
        return sorted(found)

    def run(self, server: str, *argv: str, text: str | None = None) -> None:
        """Run a command to its end in the server's domain and on the trial's network.

        Raises ``subprocess.CalledProcessError`` where it fails, unless ``timeout`` cut it off.
        """
        joins = "".join(f"echo $$ > {group}/cgroup.procs; " for group in self._groups(server))
        enter = f"exec nsenter --net=/proc/{self.pids(server)[0]}/ns/net "
        done = subprocess.run(
            ["sh", "-c", f'{joins}{enter}"$@"', "sh", *argv],
            cwd=self.folder(server),
            input=text or "",
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        if done.returncode != CUT_OFF:
            done.check_returncode()

    def mariadb(self, server: str, statements: str) -> None:
        """Have MariaDB run statements, as the application's own account."""
        self.run(server, *self._mariadb("mariadb", server), text=statements)

    def mariadb_dump(self, server: str) -> None:
        """Write all of the database's tables to a file, as MariaDB's own tool does by default."""
        tool = " ".join(self._mariadb("mariadb-dump", server))
        self.run(server, "sh", "-c", f"{tool} > tmp/dump.sql; s=$?; rm tmp/dump.sql; exit $s")

    def psql(self, server: str, statements: str) -> None:
        """Have PostgreSQL run statements, as the application's own account."""
        told = ("--quiet", "--set=ON_ERROR_STOP=1")
        self.run(server, *self._postgresql("psql", server), *told, text=statements)

    def pg_dump(self, server: str) -> None:
        """Write all of the database's tables to a packed file."""
        tool = shlex.join([*self._postgresql("pg_dump", server), "--format=custom"])
        self.run(server, "sh", "-c", f"{tool} > dump.pg; s=$?; rm dump.pg; exit $s")

    def signal(self, pid: int, number: int) -> None:
        """Send a signal."""
        os.kill(pid, number)

    def _mariadb(self, tool: str, server: str) -> Sequence[str]:
        user, password = self._login(server, MARIADB_LOGIN)
        socket = f"--socket={self.folder(server)}/data/mysqld.sock"
        return tool, socket, f"--user={user}", f"--password={password}", "rubbos"

    def _postgresql(self, tool: str, server: str) -> Sequence[str]:
        user, password = self._login(server, POSTGRESQL_LOGIN)
        where = f"host={self.folder(server)}/data user={user} password={password} dbname=rubis"
        return tool, f"--dbname={where}"

    def _login(self, server: str, told: re.Pattern[str]) -> tuple[str, str]:
        """Return the application's user and password."""
        found = told.search((self.folder(server) / "accounts.sql").read_text())
        assert found is not None
        return found[1], found[2]

    def _groups(self, server: str) -> list[Path]:
        hierarchy = find_hierarchy()
        assert isinstance(hierarchy, Hierarchy), hierarchy
        roots = hierarchy.controllers().values()
        groups = {root / trial_group(self.trial) / server for root in roots}
        return sorted(group for group in groups if group.is_dir())
