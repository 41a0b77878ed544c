"""A domain that somebody else made: the processes behind a port of this host, looked at only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import psutil

from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.native.host_domain import HostDomain
from tierlab.environments.process import Launch
from tierlab.errors import UserError

ANY = ("0.0.0.0", "::")
"""Addresses that stand for all."""


class StandingDomain(HostDomain):
    """The processes that listen on a port, and their descendants. Nothing is done to them."""

    def pids(self) -> list[int]:
        """Those that listen there, and whom they started; empty where none is on this host, or
        this user may not know.
        """
        assert self.spec.standing is not None
        address, port = self.spec.standing
        found: set[int] = set()
        for connection in psutil.net_connections("tcp"):
            where = connection.laddr
            listens = connection.status == psutil.CONN_LISTEN and connection.pid is not None
            if listens and where and where.port == port and where.ip in (address, *ANY):
                found |= _family(int(connection.pid or 0))
        return sorted(found)

    def _make_group(self) -> Group | None:
        return None

    def _entry(self) -> Sequence[str]:
        raise self._not_ours()

    def _launch(self, argv: Sequence[str], env: Mapping[str, str] | None) -> Launch:  # noqa: ARG002
        raise self._not_ours()

    def _not_ours(self) -> UserError:
        return UserError(f"{self.spec.name}: it runs already, and nothing is started in it.")


def _family(pid: int) -> set[int]:
    try:
        process = psutil.Process(pid)
        return {pid, *(child.pid for child in process.children(recursive=True))}
    except psutil.Error:
        return set()
