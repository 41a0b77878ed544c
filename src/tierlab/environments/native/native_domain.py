"""A domain of the native environment: bare processes in a control group."""

from __future__ import annotations

from collections.abc import Sequence

from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.native.host_domain import HostDomain


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
