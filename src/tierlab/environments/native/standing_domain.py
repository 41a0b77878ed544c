"""A domain that somebody else made: the processes behind a port of this host, looked at only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tierlab.environments.behind_port import behind
from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.domain import DomainSpec
from tierlab.environments.listeners import Listener, listeners_at
from tierlab.environments.native.host_domain import Ground, HostDomain
from tierlab.environments.process import Launch
from tierlab.errors import UserError


class StandingDomain(HostDomain):
    """The processes that listen on a port, and their descendants. Nothing is done to them."""

    def __init__(self, ground: Ground, spec: DomainSpec) -> None:
        super().__init__(ground, spec)
        self._seen: list[Listener] = []

    def pids(self) -> list[int]:
        """Those that listen there, and whom they started; empty where none is on this host, or
        this user may not know.
        """
        return sorted(behind(*self._where).pids)

    def unseen(self) -> str | None:
        """That a container's port is held for it, by whom."""
        return behind(*self._where).unseen

    def is_listening(self) -> bool:
        """Whether somebody listens there, as far as this user may know.

        All sockets of the host are gone through only where none of those last seen is there.
        """
        if not any(each.is_there() for each in self._seen):
            self._seen = listeners_at(*self._where)
        return bool(self._seen)

    @property
    def _where(self) -> tuple[str, int]:
        assert self.spec.standing is not None
        return self.spec.standing

    def _make_group(self) -> Group | None:
        return None

    def _entry(self) -> Sequence[str]:
        raise self._not_ours()

    def _launch(self, argv: Sequence[str], env: Mapping[str, str] | None) -> Launch:  # noqa: ARG002
        raise self._not_ours()

    def _not_ours(self) -> UserError:
        return UserError(f"{self.spec.name}: it runs already, and nothing is started in it.")
