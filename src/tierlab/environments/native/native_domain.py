"""A domain of the native environment: bare processes in a control group."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.native.host_domain import HostDomain
from tierlab.environments.placement import Placement


class NativeDomain(HostDomain):
    """A folder, and with privilege a control group, for the processes of one server."""

    def _make_group(self) -> Group | None:
        hierarchy = self._ground.hierarchy
        return None if hierarchy is None else hierarchy.make(self._ground.ledger, self.spec.name)

    def _entry(self) -> Sequence[str]:
        namespace = self._ground.namespace
        if namespace is None:
            return []
        # What of System V's a server has would outlive it: in a space of its own it cannot.
        return [*namespace.entry, "unshare", "--ipc", "--"]

    def read_back(self) -> Placement:
        """Where no control group says on which PUs they may run, processes inherit the caller's: a
        batch system or a container may have left it few of the machine's.
        """
        found = super().read_back()
        if found.pus is not None:
            return found
        return replace(found, pus=frozenset(os.sched_getaffinity(0)))
