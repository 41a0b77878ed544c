"""A domain that somebody else made: the processes behind a port or a UNIX socket of this host,
looked at only.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tierlab.environments.behind_port import behind
from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.cgroups.own_group import own_group
from tierlab.environments.domain import DomainSpec
from tierlab.environments.listeners import Listener, listeners_at
from tierlab.environments.native.host_domain import Ground, HostDomain
from tierlab.environments.placement import Placement
from tierlab.environments.process import Launch
from tierlab.environments.unix.listeners import behind_socket, is_listened_at
from tierlab.errors import UserError


class StandingDomain(HostDomain):
    """The processes that listen on a port or at a UNIX socket, and their descendants. Nothing is
    done to them.
    """

    def __init__(self, ground: Ground, spec: DomainSpec) -> None:
        super().__init__(ground, spec)
        self._seen: list[Listener] = []

    def pids(self) -> list[int]:
        """Those that listen there, and whom they started; empty where none is on this host, or
        this user may not know.
        """
        path, at_port = self.spec.standing_socket, self.spec.standing
        found = frozenset() if at_port is None else behind(*at_port).pids
        return sorted(found if path is None else found | behind_socket(path))

    def unseen(self) -> str | None:
        """That a container's port is held for it, by whom, or that its socket is another user's."""
        if (at_port := self.spec.standing) is not None and (why := behind(*at_port).unseen):
            return None if self.pids() else why
        path = self.spec.standing_socket
        if at_port is not None or path is None or self.pids():
            return None
        return f"no process that this user may look at listens at {path}"

    def is_listening(self) -> bool:
        """Whether somebody listens there, as far as this user may know.

        All sockets of the host are gone through only where none of those last seen is there.
        """
        if (at_port := self.spec.standing) is None:
            return is_listened_at(str(self.spec.standing_socket))
        if not any(each.is_there() for each in self._seen):
            self._seen = listeners_at(*at_port)
        return bool(self._seen)

    def cgroups(self) -> Mapping[str, Path]:
        """Folders of the control group that it has to itself, as far as it has one."""
        return own_group(self.pids()).sampled()

    def read_back(self) -> Placement:
        """The PUs on which its processes may run, and the limits of its control group."""
        pids, hierarchy = self.pids(), self._ground.hierarchy
        found = Placement() if hierarchy is None else hierarchy.read_back(own_group(pids))
        return replace(found, pus=_allowed(pids))

    def _make_group(self) -> Group | None:
        return None

    def _entry(self) -> Sequence[str]:
        raise self._not_ours()

    def _launch(self, argv: Sequence[str], env: Mapping[str, str] | None) -> Launch:  # noqa: ARG002
        raise self._not_ours()

    def _not_ours(self) -> UserError:
        return UserError(f"{self.spec.name}: it runs already, and nothing is started in it.")


def _allowed(pids: Collection[int]) -> frozenset[int] | None:
    """Where any of them may run; None of none."""
    pus: set[int] = set()
    for pid in pids:
        with suppress(OSError):  # it has ended
            pus |= os.sched_getaffinity(pid)
    return frozenset(pus) or None
