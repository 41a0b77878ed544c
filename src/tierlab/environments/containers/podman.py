"""The podman environment: each server in an OCI container, made by podman and runc.

The containers' root is this host's, seen through an overlay: the same programs as with bare
processes, so that a difference between the two environments is the containers'.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tierlab.environments.capability import Probe
from tierlab.environments.containers.podman_domain import PodmanDomain
from tierlab.environments.containers.podman_storage import Storage
from tierlab.environments.containers.probe import probe_containers
from tierlab.environments.containers.runc import runtime_fault
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.native.host_domain import Ground

PROGRAMS: Mapping[str, str] = {
    "podman": "podman",
    "conmon": "conmon",
    "runc": "runc",
    "catatonit": "catatonit",
}
"""Each with the Debian package that brings it."""


class Podman(HostEnvironment):
    """Containers on this host, for one trial; storage of their own below the trial's folder."""

    name: ClassVar[str] = "podman"

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and control groups; `UserError` if no container can be made."""
        return probe_containers(cls.name, PROGRAMS, runtime_fault)

    def create(self, spec: DomainSpec) -> PodmanDomain:
        """Make a domain: a folder now, a container when it starts."""
        return PodmanDomain(self._ground, spec, self._storage)

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        ground = super()._prepare(sysctls)
        assert ground.hierarchy is not None  # `probe` refuses a machine without
        # Before any group: the last of what a ledger lists goes first.
        ground.hierarchy.hand_down_all(self._ledger)
        self._storage = Storage(self.work / ".podman", self._ledger.token)
        self._storage.make(self._ledger)
        return ground
