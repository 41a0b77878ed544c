"""A native trial under way, as an administrator of its servers reaches it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tierlab.environments.cgroups.cgroup import Hierarchy, trial_group
from tierlab.environments.cgroups.find import find_hierarchy
from tierlab.environments.native.host import WORK_ROOT
from tierlab.environments.network.netns import FOLDER

LONGEST_S = 60.0
"""The longest that one command may take."""

CUT_OFF = 124
"""The status of timeout(1) that ended a command."""

LOGIN = re.compile(r"USER '([^']+)'@'%' IDENTIFIED BY '([^']+)'")
"""In what MariaDB is told as it starts."""


@dataclass(frozen=True)
class Access:
    """The servers of the trial of that name on the host."""

    trial: str

    def folder(self, server: str) -> Path:
        """The server's folder."""
        return WORK_ROOT / f"tierlab-{self.trial}" / server

    def address(self, server: str) -> str:
        """Where a MariaDB server listens."""
        options = (self.folder(server) / "my.cnf").read_text().splitlines()
        told = dict(line.split("=", 1) for line in options if "=" in line)
        return {key.strip(): value.strip() for key, value in told.items()}["bind-address"]

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
        enter = f"exec nsenter --net={FOLDER}/tierlab-{self.trial} "
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

    def sql(self, server: str, statements: str) -> None:
        """Have MariaDB run statements, as the application's own account."""
        self.run(server, *self._login("mariadb", server), text=statements)

    def dump(self, server: str) -> None:
        """Write all of the database's tables to a file, as MariaDB's own tool does by default."""
        tool = " ".join(self._login("mariadb-dump", server))
        self.run(server, "sh", "-c", f"{tool} > tmp/dump.sql; s=$?; rm tmp/dump.sql; exit $s")

    def signal(self, pid: int, number: int) -> None:
        """Send a signal."""
        os.kill(pid, number)

    def _login(self, tool: str, server: str) -> Sequence[str]:
        folder = self.folder(server)
        login = LOGIN.search((folder / "accounts.sql").read_text())
        assert login is not None
        user, password = login.groups()
        socket = f"--socket={folder}/data/mysqld.sock"
        return tool, socket, f"--user={user}", f"--password={password}", "rubbos"

    def _groups(self, server: str) -> list[Path]:
        hierarchy = find_hierarchy()
        assert isinstance(hierarchy, Hierarchy), hierarchy
        roots = hierarchy.controllers().values()
        groups = {root / trial_group(self.trial) / server for root in roots}
        return sorted(group for group in groups if group.is_dir())
